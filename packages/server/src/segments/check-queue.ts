import { sql } from 'kysely'
import { addChecks } from '../companies/changes.ts'
import { type EventMatch, matchesIn } from '../conditions/language.ts'
import { companiesOfContacts } from '../contacts/of-companies.ts'
import type { RecordedEvent } from '../contacts/writing/transaction.ts'
import { SYSTEM_EVENTS } from '../journal/event-record.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Definition, DefinitionsOfTenant } from './definitions.ts'

const ROWS_PER_STATEMENT = 5_000

/**
 * Queues a check of every contact that a transaction records an event of, and of its company, if a segment uses such
 * events. Call it with the definitions locked and before memberships change: checks lock the two in the same order.
 */
export async function queueChecksAfter(
  tx: Tenant,
  { contacts, companies }: DefinitionsOfTenant,
  events: readonly RecordedEvent[],
): Promise<void> {
  await queueChecks(tx, concernedBy(contacts, events))
  await queueCompanyChecks(tx, concernedBy(companies, events))
}

/** The contacts of the events that some segments use. */
function concernedBy(definitions: readonly Definition[], events: readonly RecordedEvent[]): string[] {
  const matches = definitions.flatMap((definition) => definition.matches.flatMap(matchesIn))
  if (matches.length === 0) return []
  const concerned = events.filter(({ event }) => matches.some((match) => matchesEvent(match, event)))
  return concerned.flatMap(({ contactId }) => contactId ?? [])
}

/** The events of all contacts that could enter or leave a segment, before the segment is evaluated. */
export function possibleTransitions(contactIds: Iterable<string>): RecordedEvent[] {
  return [...contactIds].flatMap((contactId) => [
    { event: 'segment_entered', contactId },
    { event: 'segment_exited', contactId },
  ])
}

/** Whether a condition can be about events of a name. */
export function matchesEvent({ type, types = [] }: EventMatch, event: string): boolean {
  const named = type === undefined ? types : [...types, type]
  // System events count only if a condition names them.
  return named.length === 0 ? !(SYSTEM_EVENTS as readonly string[]).includes(event) : named.includes(event)
}

/** Queues contacts for a check of their segments by any process. */
export async function queueChecks(tx: Tenant, contactIds: Iterable<string>): Promise<void> {
  // Sorted, so that two transactions with the same contacts cannot deadlock.
  const ids = [...new Set(contactIds)].sort()
  for (let from = 0; from < ids.length; from += ROWS_PER_STATEMENT) {
    await tx.db
      .insertInto('segment_checks')
      .values(ids.slice(from, from + ROWS_PER_STATEMENT).map((contact_id) => ({ contact_id })))
      // A check that is already due stays due, so that a constantly changing contact is checked as well.
      .onConflict((row) => row.columns(['contact_id']).doUpdateSet({ requested_at: sql`now()` }))
      .execute()
  }
}

/** Queues the companies of some contacts for a check of their segments by any process. */
export async function queueCompanyChecks(tx: Tenant, contactIds: Iterable<string>): Promise<void> {
  const ids = [...new Set(contactIds)]
  if (ids.length === 0) return
  await addChecks(tx, await companiesOfContacts(tx, ids))
}
