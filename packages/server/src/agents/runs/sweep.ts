import { type RawBuilder, sql } from 'kysely'
import { isOfOpenTenant } from '../../platform/closed-tenants.ts'
import type { Sweeping } from '../../platform/jobs/jobs.ts'
import { changeTogether } from '../../platform/postgres/collisions.ts'
import { isFree, RELEASED } from '../../platform/postgres/lease.ts'
import { openTenant, type Tenant } from '../../platform/tenant.ts'
import { AGENT_COLUMNS, configurationOf } from '../agent.ts'
import { nextRunOf } from '../agents.ts'
import { RESTARTS_MAX, skipPending } from './claim.ts'
import { RUN_QUEUE } from './queue.ts'
import { queueRun } from './trigger.ts'

const AT_ONCE = 100
/** A run whose process lives but that makes no progress for this long is stuck. */
const STUCK_MINUTES = 15
const STUCK = `The run made no progress: no contact was evaluated in ${STUCK_MINUTES} minutes, or no process worked on it for a day.`
/** A run that waits this long for a process fails. */
const WAITING_HOURS = 24

/**
 * Queues the scheduled runs that are due, each once, however many processes do this. One run makes up for all times
 * that were missed while no process ran.
 * @returns how many runs were queued.
 */
export async function sweepSchedules({ stores, jobs, clock, log }: Sweeping): Promise<number> {
  const now = clock()
  const due = await stores.database
    .selectFrom('agents')
    .select(['tenant_id', 'agent_id'])
    .where('next_run_at', '<=', now)
    .where(isOfOpenTenant(stores))
    .orderBy('next_run_at')
    .limit(AT_ONCE)
    .execute()
  let queued = 0
  for (const { tenant_id, agent_id } of due) {
    try {
      if (await queueDue(openTenant(stores, tenant_id), jobs, agent_id, now)) queued++
    } catch (error) {
      // A problem with one agent must not delay the others.
      log.warn({ err: error, tenant_id, agent_id }, 'a scheduled run could not be queued; retrying shortly')
    }
  }
  return queued
}

/** The agent's row stays locked until its next time is set, so that no other process queues the same run. */
async function queueDue(tenant: Tenant, jobs: Sweeping['jobs'], agentId: string, now: Date): Promise<boolean> {
  return tenant.transaction(async (tx) => {
    const agent = await tx.db
      .selectFrom('agents')
      .select(AGENT_COLUMNS)
      .where('agent_id', '=', agentId)
      .where('next_run_at', '<=', now)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
    if (!agent) return false
    const next = await nextRunOf(tx, jobs, configurationOf(agent), agent.enabled, now)
    await tx.db.updateTable('agents').set({ next_run_at: next }).where('agent_id', '=', agentId).execute()
    // If a scheduled run is still open, another one is pointless.
    if (await hasOpenRun(tx, agentId)) return false
    await queueRun(tx, jobs, agent, { trigger: 'schedule', requested: null, actor: { kind: 'service' } }, now)
    return true
  })
}

async function hasOpenRun(tx: Tenant, agentId: string): Promise<boolean> {
  const run = await tx.db
    .selectFrom('agent_runs')
    .select('run_id')
    .where('agent_id', '=', agentId)
    .where('trigger', '=', 'schedule')
    .where('status', 'in', ['queued', 'running'])
    .limit(1)
    .executeTakeFirst()
  return run !== undefined
}

/**
 * Queues runs again if their process has died, and ends those that make no progress: stuck, interrupted too often, or
 * waiting too long.
 */
export async function sweepRuns({ stores, jobs, clock, log }: Sweeping): Promise<void> {
  const now = clock()
  const silent = sql<boolean>`claim IS NOT NULL AND ${isFree}`
  const stuck = sql<boolean>`CASE WHEN claim IS NULL
    THEN coalesce(progressed_at, created_at) < now() - make_interval(hours => ${WAITING_HOURS})
    ELSE progressed_at < now() - make_interval(mins => ${STUCK_MINUTES}) END`
  const open = await stores.database
    .selectFrom('agent_runs')
    .select(['tenant_id', 'run_id'])
    .where('status', 'in', ['queued', 'running'])
    .where(({ or }) => or([silent, stuck]))
    .where(isOfOpenTenant(stores))
    .limit(AT_ONCE)
    .execute()
  for (const { tenant_id, run_id } of open) {
    const work = (tx: Tenant) => restartOrFail(tx, jobs, run_id, { silent, stuck }, now)
    try {
      // A process that is slow rather than dead may have locked a contact of the run and wait for the run's row.
      await changeTogether(openTenant(stores, tenant_id), work)
    } catch (error) {
      // A problem with one run must not delay the others.
      log.warn(
        { err: error, tenant_id, run_id },
        'a silent or stuck run could not be restarted or ended; retrying shortly',
      )
    }
  }
}

async function restartOrFail(
  tx: Tenant,
  jobs: Sweeping['jobs'],
  runId: string,
  { silent, stuck }: { silent: RawBuilder<boolean>; stuck: RawBuilder<boolean> },
  now: Date,
): Promise<void> {
  const run = await tx.db
    .selectFrom('agent_runs')
    .select(['restarts', silent.as('silent'), stuck.as('stuck')])
    .where('run_id', '=', runId)
    .where('status', 'in', ['queued', 'running'])
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (!run) return
  if (run.stuck) await fail(tx, runId, STUCK, now)
  else if (run.silent && run.restarts >= RESTARTS_MAX) {
    await fail(tx, runId, `The run was interrupted ${run.restarts + 1} times and made no progress.`, now)
  } else if (run.silent) {
    await tx.db
      .updateTable('agent_runs')
      .set({ ...RELEASED, restarts: sql`restarts + 1` })
      .where('run_id', '=', runId)
      .execute()
    await jobs.send(tx, RUN_QUEUE, { runId })
  }
}

async function fail(tx: Tenant, runId: string, error: string, now: Date): Promise<void> {
  await tx.db
    .updateTable('agent_runs')
    .set({ status: 'failed', error, ...RELEASED, completed_at: now })
    .where('run_id', '=', runId)
    .execute()
  await skipPending(tx, runId)
}
