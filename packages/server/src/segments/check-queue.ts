import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'

const ROWS_A_STATEMENT = 5_000

/** Queues contacts for a check of their segments, soon, by any process. */
export async function queueChecks(tx: Tenant, contactIds: Iterable<string>): Promise<void> {
  // Sorted, so that two transactions with the same contacts cannot deadlock.
  const ids = [...new Set(contactIds)].sort()
  for (let from = 0; from < ids.length; from += ROWS_A_STATEMENT) {
    await tx.db
      .insertInto('segment_checks')
      .values(ids.slice(from, from + ROWS_A_STATEMENT).map((contact_id) => ({ contact_id })))
      // A check that is already due stays due, so that a constantly changing contact is checked too.
      .onConflict((row) => row.columns(['contact_id']).doUpdateSet({ requested_at: sql`now()` }))
      .execute()
  }
}
