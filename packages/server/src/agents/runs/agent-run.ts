import { sql } from 'kysely'
import { conflict, notFound } from '../../platform/errors.ts'
import { cancelRun, type Run, type RunRows, updateRun } from '../../platform/runs/run.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { AgentConfiguration } from '../agent.ts'

export const AGENT_ROWS: RunRows<'agent_runs'> = {
  table: 'agent_runs',
  id: 'run_id',
  lease: 'agent_run',
  ending: skipPending,
}

/** A run that this process is working on. */
export interface AgentRun extends Run<'agent_runs'> {
  agentId: string
  configuration: AgentConfiguration
}

/** Begins a turn of a run. The reservations of the process that worked on it before end. @throws ClaimLost */
export async function beginTurn(run: Run<'agent_runs'>): Promise<AgentRun> {
  await updateRun(run, { reserved_usd: 0, progressed_at: sql`now()` })
  const { agent_id: agentId, configuration } = run.row
  return { ...run, agentId, configuration: configuration as unknown as AgentConfiguration }
}

/** Skips the contacts that an ended run has not evaluated. */
export async function skipPending(tx: Tenant, runId: string): Promise<void> {
  await tx.db
    .updateTable('agent_run_contacts')
    .set({ status: 'skipped' })
    .where('run_id', '=', runId)
    .where('status', '=', 'pending')
    .execute()
}

/**
 * Cancels a run that is queued or running. Its proposals stay; contacts that were not evaluated are skipped. Deleting the
 * agent at the same moment locks the run before its contacts: the transaction must be repeated on collision.
 * @throws ServiceError 404, 409 `run_ended`.
 */
export async function cancelAgentRun(tenant: Tenant, runId: string, now: Date): Promise<void> {
  await tenant.transaction(async (tx) => {
    if (await cancelRun(AGENT_ROWS, tx, runId, now)) return
    const run = await tx.db.selectFrom('agent_runs').select('status').where('run_id', '=', runId).executeTakeFirst()
    throw run ? conflict('run_ended', `The run is already ${run.status}.`) : notFound('run')
  })
}
