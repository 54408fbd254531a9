import { sql } from 'kysely'
import type { Sweeping } from '../../platform/jobs/jobs.ts'
import { changeTogether } from '../../platform/postgres/collisions.ts'
import { cancelRun, OPEN } from '../../platform/runs/run.ts'
import { openTenant, type Tenant } from '../../platform/tenant.ts'
import { AGENT_COLUMNS, configurationOf } from '../agent.ts'
import { nextRunOf } from '../agents.ts'
import { AGENT_ROWS } from './agent-run.ts'
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
    await queueRun(tx, agent, { trigger: 'schedule', requested: null, actor: { kind: 'service' } }, now)
    return true
  })
}

async function hasOpenRun(tx: Tenant, agentId: string): Promise<boolean> {
  const run = await tx.db
    .selectFrom('agent_runs')
    .select('run_id')
    .where('agent_id', '=', agentId)
    .where('trigger', '=', 'schedule')
    .where('status', 'in', OPEN)
    .limit(1)
    .executeTakeFirst()
  return run !== undefined
}

/** Fails runs that make no progress: stuck, or waiting for a process too long. */
export async function failStuckRuns({ stores, clock, log }: Omit<Sweeping, 'jobs'>): Promise<void> {
  const now = clock()
  const found = await stores.database
    .selectFrom('agent_runs')
    .select(['tenant_id', 'run_id'])
    .where(isStuck)
    .limit(AT_ONCE)
    .execute()
  for (const { tenant_id, run_id } of found) {
    const fail = async (tx: Tenant) => {
      const row = tx.db.selectFrom('agent_runs').select('run_id').where('run_id', '=', run_id).where(isStuck)
      if (await row.forUpdate().skipLocked().executeTakeFirst()) await cancelRun(AGENT_ROWS, tx, run_id, now, STUCK)
    }
    try {
      // A process that is slow rather than dead may have locked a contact of the run and wait for the run's row.
      await changeTogether(openTenant(stores, tenant_id), fail)
    } catch (error) {
      // A problem with one run must not delay the others.
      log.warn({ err: error, tenant_id, run_id }, 'a stuck run could not be ended; retrying shortly')
    }
  }
}

const isStuck = sql<boolean>`(due_at IS NOT NULL AND CASE WHEN claim IS NULL
  THEN coalesce(progressed_at, created_at) < now() - make_interval(hours => ${sql.lit(WAITING_HOURS)})
  ELSE progressed_at < now() - make_interval(mins => ${sql.lit(STUCK_MINUTES)}) END)`
