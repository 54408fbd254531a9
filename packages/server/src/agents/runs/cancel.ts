import { type Actor, audit } from '../../audit/log.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import { repeatOnCollision } from '../../platform/postgres/collisions.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { skipPending } from './claim.ts'

/**
 * Ends a run that waits or is under way. What it has proposed stays; the contacts that it has not come to are skipped.
 * @throws ServiceError 404, 409 `run_ended`.
 */
export async function cancelRun(tenant: Tenant, runId: string, actor: Actor, now: Date): Promise<void> {
  const cancel = async (tx: Tenant) => {
    // Contacts before the run, as whoever records one takes them.
    await skipPending(tx, runId)
    const run = await tx.db
      .selectFrom('agent_runs')
      .select(['status', 'agent_id'])
      .where('run_id', '=', runId)
      .forUpdate()
      .executeTakeFirst()
    if (!run) throw notFound('run')
    if (run.status !== 'queued' && run.status !== 'running') {
      throw conflict('run_ended', `The run is ${run.status} already.`)
    }
    await tx.db
      .updateTable('agent_runs')
      .set({ status: 'cancelled', claim: null, completed_at: now })
      .where('run_id', '=', runId)
      .execute()
    // Those that were chosen in between.
    await skipPending(tx, runId)
    const entry = { action: 'run.cancelled', subjectKind: 'run', subjectId: runId }
    await audit(tx, { actor, ...entry, details: { agent_id: run.agent_id } }, now)
  }
  // Its agent may be deleted at this moment, which takes the run before its contacts.
  await repeatOnCollision(() => tenant.transaction(cancel))
}
