import { type Actor, audit } from '../../operations/audit.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import { repeatOnCollision } from '../../platform/postgres/collisions.ts'
import { RELEASED } from '../../platform/postgres/lease.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { skipPending } from './claim.ts'

/**
 * Cancels a run that is queued or running. Its proposals stay; contacts that were not evaluated are skipped.
 * @throws ServiceError 404, 409 `run_ended`.
 */
export async function cancelRun(tenant: Tenant, runId: string, actor: Actor, now: Date): Promise<void> {
  const cancel = async (tx: Tenant) => {
    // Contacts are locked before the run, in the same order as `recordOutcome`.
    await skipPending(tx, runId)
    const run = await tx.db
      .selectFrom('agent_runs')
      .select(['status', 'agent_id'])
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
    const entry = { action: 'run.cancelled', subjectKind: 'run', subjectId: runId }
    await audit(tx, { actor, ...entry, details: { agent_id: run.agent_id } }, now)
  }
  // Deleting the agent at the same moment locks the run before its contacts.
  await repeatOnCollision(() => tenant.transaction(cancel))
}
