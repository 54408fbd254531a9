import { conflict, notFound } from '../../platform/errors.ts'
import { RELEASED } from '../../platform/postgres/lease.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { skipPending } from './claim.ts'

/**
 * Cancels a run that is queued or running. Its proposals stay; contacts that were not evaluated are skipped. Deleting the
 * agent at the same moment locks the run before its contacts: the transaction must be repeated on collision.
 * @throws ServiceError 404, 409 `run_ended`.
 */
export async function cancelRun(tenant: Tenant, runId: string, now: Date): Promise<void> {
  await tenant.transaction(async (tx) => {
    // Contacts are locked before the run, in the same order as `recordOutcome`.
    await skipPending(tx, runId)
    const run = await tx.db
      .selectFrom('agent_runs')
      .select('status')
      .where('run_id', '=', runId)
      .forUpdate()
      .executeTakeFirst()
    if (!run) throw notFound('run')
    if (run.status !== 'queued' && run.status !== 'running') {
      throw conflict('run_ended', `The run is already ${run.status}.`)
    }
    await tx.db
      .updateTable('agent_runs')
      .set({ status: 'cancelled', ...RELEASED, completed_at: now })
      .where('run_id', '=', runId)
      .execute()
    // Contacts that were added in between.
    await skipPending(tx, runId)
  })
}
