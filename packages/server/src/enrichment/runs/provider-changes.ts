import { sql } from 'kysely'
import type { Contents } from '../../contacts/writing/contact-set.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type ContactChange, changeOf, joined } from './changes.ts'

/**
 * Adds what a provider filled in a contact to what a run has changed in it, so that undoing the run takes back both. Call it in
 * the transaction of the change, which has locked the contact.
 */
export async function noteProviderChange(
  tx: Tenant,
  runId: string,
  before: Contents,
  after: Contents,
  now: Date,
): Promise<void> {
  const { contact_id } = after.row
  const stored = await tx.db
    .selectFrom('enrichment_run_changes')
    .select('changed')
    .where('run_id', '=', runId)
    .where('contact_id', '=', contact_id)
    .executeTakeFirst()
  const change = changeOf(before, after)
  const changed = JSON.stringify(stored ? joined(stored.changed as unknown as ContactChange, change) : change)
  await tx.db
    .insertInto('enrichment_run_changes')
    .values({ run_id: runId, contact_id, changed, changed_at: now })
    .onConflict((row) => row.columns(['run_id', 'contact_id']).doUpdateSet({ changed }))
    .execute()
  if (stored) return
  await tx.db
    .updateTable('enrichment_runs')
    .set({ enriched: sql<number>`enriched + 1`, unchanged: sql<number>`greatest(unchanged - 1, 0)` })
    .where('run_id', '=', runId)
    .execute()
}
