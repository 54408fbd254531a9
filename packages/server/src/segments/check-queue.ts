import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'

const ROWS_A_STATEMENT = 5_000

/** Asks for contacts' segments to be looked at again, by any process, soon. */
export async function queueChecks(tx: Tenant, contactIds: Iterable<string>): Promise<void> {
  // Sorted, so that two transactions naming the same contacts wait for each other instead of blocking each other.
  const ids = [...new Set(contactIds)].sort()
  for (let from = 0; from < ids.length; from += ROWS_A_STATEMENT) {
    await tx.db
      .insertInto('segment_checks')
      .values(ids.slice(from, from + ROWS_A_STATEMENT).map((contact_id) => ({ contact_id })))
      // What made the check due stays, so that a contact that is never at rest is looked at all the same.
      .onConflict((row) => row.columns(['contact_id']).doUpdateSet({ requested_at: sql`now()` }))
      .execute()
  }
}
