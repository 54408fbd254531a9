import { sql } from 'kysely'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { changeTogether } from '../../platform/postgres/collisions.ts'
import { cancelRun, OPEN } from '../../platform/runs/run.ts'
import type { Sweep } from '../../platform/runs/workers.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { AGENT_COLUMNS, configurationOf } from '../agent.ts'
import { nextRunOf } from '../agents.ts'
import { AGENT_ROWS } from './agent-run.ts'
import { queueRun } from './trigger.ts'

/** A run whose process lives but that makes no progress for this long is stuck. */
const STUCK_MINUTES = 15
const STUCK = `The run made no progress: no contact was evaluated in ${STUCK_MINUTES} minutes, or no process worked on it for a day.`
/** A run that waits this long for a process fails. */
const WAITING_HOURS = 24

/**
 * Queues the scheduled runs that are due, each once, however many processes do this. One run makes up for all times
 * that were missed while no process ran.
 */
export function dueAgents(jobs: Pick<Jobs, 'nextTime'>): Sweep {
  return {
    table: 'agents',
    id: 'agent_id',
    isDue: (now) => sql<boolean>`next_run_at <= ${now}`,
    handle: (tenant, agentId, now) => queueDue(tenant, jobs, agentId, now),
  }
}

/** The agent's row stays locked until its next time is set, so that no other process queues the same run. */
async function queueDue(tenant: Tenant, jobs: Pick<Jobs, 'nextTime'>, agentId: string, now: Date): Promise<void> {
  await tenant.transaction(async (tx) => {
    const agent = await tx.db
      .selectFrom('agents')
      .select(AGENT_COLUMNS)
      .where('agent_id', '=', agentId)
      .where('next_run_at', '<=', now)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
    if (!agent) return
    const next = await nextRunOf(tx, jobs, configurationOf(agent), agent.enabled, now)
    await tx.db.updateTable('agents').set({ next_run_at: next }).where('agent_id', '=', agentId).execute()
    // If a scheduled run is still open, another one is pointless.
    if (await hasOpenRun(tx, agentId)) return
    await queueRun(tx, agent, { trigger: 'schedule', requested: null, actor: { kind: 'service' } }, now)
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

const isStuck = sql<boolean>`(due_at IS NOT NULL AND CASE WHEN claim IS NULL
  THEN coalesce(progressed_at, created_at) < now() - make_interval(hours => ${sql.lit(WAITING_HOURS)})
  ELSE progressed_at < now() - make_interval(mins => ${sql.lit(STUCK_MINUTES)}) END)`

/** Fails runs that make no progress: stuck, or waiting for a process too long. */
export const STUCK_RUNS: Sweep = {
  ...AGENT_ROWS,
  isDue: () => isStuck,
  // A process that is slow rather than dead may have locked a contact of the run and wait for the run's row.
  handle: (tenant, runId, now) =>
    changeTogether(tenant, async (tx) => {
      const row = tx.db.selectFrom('agent_runs').select('run_id').where('run_id', '=', runId).where(isStuck)
      if (await row.forUpdate().skipLocked().executeTakeFirst()) await cancelRun(AGENT_ROWS, tx, runId, now, STUCK)
    }),
}
