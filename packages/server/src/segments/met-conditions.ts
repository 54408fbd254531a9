import { expressionBuilder, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { type EventQuestion, eventsOf, keyOf, type SegmentFilter } from '../conditions/language.ts'
import { CONTACT_ID } from '../contacts/columns.ts'
import { contactExists, type PerContact } from '../contacts/matching.ts'
import type { ContactRange } from '../contacts/ranges.ts'
import { ZERO_ID } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Definition, Definitions } from './definitions.ts'
import type { EventResults } from './events.ts'

/** Rows deleted in one transaction. */
const ROWS_AT_ONCE = 20_000

/** The keys of all event conditions of segments. */
export function keysOf(definitions: readonly Definition[]): string[] {
  return [...new Set(definitions.flatMap(({ matches }) => matches.map(keyOf)))]
}

/**
 * The keys of the event conditions that a contact is known to meet. Aggregated, so that they are read once per contact,
 * however many conditions use them.
 */
export const MET_CONDITIONS: PerContact = expressionBuilder<TenantTables, never>()
  .selectFrom('segment_met_conditions')
  .select(sql`coalesce(array_agg(match_key), '{}')`.as('keys'))
  .where('segment_met_conditions.contact_id', '=', CONTACT_ID)
  .as('per_contact')

/** The condition, in a query with `MET_CONDITIONS`, that a contact meets an event condition. */
export function isMet(match: EventQuestion): RawBuilder<SqlBool> {
  return sql`${keyOf(match)}::uuid = ANY(per_contact.keys)`
}

/**
 * Stores which contacts of a list meet event conditions. The caller's transaction has locked the contacts' rows, or
 * excludes contacts that are being checked.
 */
export async function storeResults(
  tx: Tenant,
  matches: readonly EventQuestion[],
  contactIds: readonly string[],
  results: EventResults,
): Promise<void> {
  const pairs = results.pairs(contactIds)
  const met = tx.db
    .selectFrom(
      sql`unnest(${pairs.contactIds}::uuid[], ${pairs.keys}::uuid[])`.as<'met'>(sql`met (contact_id, match_key)`),
    )
    .select([sql<string>`met.contact_id`.as('contact_id'), sql<string>`met.match_key`.as('match_key')])
  const known = tx.db
    .selectFrom('segment_met_conditions')
    .select(['contact_id', 'match_key'])
    .where('contact_id', '=', sql<string>`ANY(${contactIds}::uuid[])`)
    .where('match_key', '=', sql<string>`ANY(${matches.map(keyOf)}::uuid[])`)
  await deleteMetConditions(tx, await known.except(met).execute())
  await insertMetConditions(tx, met.orderBy(sql`1`).orderBy(sql`2`))
}

interface Pair {
  contact_id: string
  match_key: string
}

/**
 * Uses lists of ids: the planner cannot estimate the rows of an EXCEPT or a joined list, and may choose a nested loop.
 */
async function deleteMetConditions(tx: Tenant, pairs: readonly Pair[], queriedAt?: string): Promise<void> {
  for (const [key, of] of Map.groupBy(pairs, ({ match_key }) => match_key)) {
    const ids = of.map(({ contact_id }) => contact_id).sort()
    await tx.db
      .deleteFrom('segment_met_conditions')
      .where('contact_id', '=', sql<string>`ANY(${ids}::uuid[])`)
      .where('match_key', '=', key)
      .$if(queriedAt !== undefined, (query) =>
        query.where(({ not, exists }) =>
          not(exists(checkOf(tx, 'segment_met_conditions.contact_id', queriedAt ?? ''))),
        ),
      )
      .execute()
  }
}

async function insertMetConditions(tx: Tenant, pairs: SelectQueryBuilder<TenantTables, never, Pair>): Promise<void> {
  await tx.db
    .insertInto('segment_met_conditions')
    .columns(['contact_id', 'match_key'])
    .expression(pairs)
    .onConflict((known) => known.columns(['contact_id', 'match_key']).doNothing())
    .execute()
}

/** A check of a contact since then, which will be repeated. */
function checkOf(tx: Tenant, contactId: string, since: string) {
  return tx.db
    .selectFrom('segment_checks')
    .select(sql`1`.as('one'))
    .where('checked_at', '>=', sql<Date>`${since}::timestamptz`)
    .where(sql<boolean>`segment_checks.contact_id = ${sql.ref(contactId)}`)
}

/** ClickHouse's results for a range of contacts, as PostgreSQL array literals. */
export interface RangeResults extends ContactRange {
  /** When the query was sent, by PostgreSQL's clock. */
  queriedAt: string
  /** A list of ids. */
  contactIds: string
  /** For each contact, in the same order, a digit per condition: 1 if it is met. */
  hits: string
}

/**
 * Stores the results for a range of contacts, except those that were checked after ClickHouse was queried, whose
 * results are newer. Contacts that no longer exist still have events, and are skipped.
 */
export async function storeResultsOfRange(
  tx: Tenant,
  group: readonly EventQuestion[],
  { after, upTo, queriedAt, contactIds, hits }: RangeResults,
): Promise<void> {
  const keys = group.map(keyOf)
  const met = tx.db
    .selectFrom([
      sql`unnest(${contactIds}::uuid[], ${hits}::text[])`.as<'results'>(sql`results (contact_id, hits)`),
      sql`unnest(${keys}::uuid[]) WITH ORDINALITY`.as<'requested'>(sql`requested (match_key, place)`),
    ])
    .select([sql<string>`results.contact_id`.as('contact_id'), sql<string>`requested.match_key`.as('match_key')])
    .where(sql<boolean>`substr(results.hits, requested.place::int, 1) = '1'`)
  const known = tx.db
    .selectFrom('segment_met_conditions')
    .select(['contact_id', 'match_key'])
    .where('contact_id', '>', after)
    .where('contact_id', '<=', upTo)
    .where('match_key', '=', sql<string>`ANY(${keys}::uuid[])`)
  await deleteMetConditions(tx, await known.except(met).execute(), queriedAt)
  // Contacts are read only for these rows, and usually there are none.
  const missing = tx.db
    .selectFrom(met.except(known).as('missing'))
    .where(contactExists(tx, sql`missing.contact_id`))
    .select(['missing.contact_id', 'missing.match_key'])
    .where(({ not, exists }) => not(exists(checkOf(tx, 'missing.contact_id', queriedAt))))
    .orderBy('missing.contact_id')
    .orderBy('missing.match_key')
  await insertMetConditions(tx, missing)
}

/** Deletes the event conditions met by contacts that are being deleted. */
export async function deleteMetConditionsOf(tx: Tenant, contactIds: readonly string[]): Promise<void> {
  await tx.db.deleteFrom('segment_met_conditions').where('contact_id', 'in', contactIds).execute()
}

/**
 * Records which of a filter's event conditions no segment uses any more, for `deleteUnusedConditions`. Call it with the
 * definitions locked, after the change that removes the filter.
 */
export async function noteUnusedConditions(tx: Tenant, before: SegmentFilter): Promise<void> {
  const rows = await tx.db
    .selectFrom('segments')
    .select('filter')
    .where('uses_events', '=', true)
    .where('entity', '=', 'contacts')
    .execute()
  const used = new Set(rows.flatMap(({ filter }) => eventsOf(filter as unknown as SegmentFilter).map(keyOf)))
  const unused = [...new Set(eventsOf(before).map(keyOf))].filter((key) => !used.has(key))
  if (unused.length === 0) return
  await tx.db
    .insertInto('segment_unused_matches')
    .values(unused.map((match_key) => ({ match_key })))
    // A deletion in progress starts over, because rows may have been added since.
    .onConflict((known) => known.columns(['match_key']).doUpdateSet({ unused_since: sql`clock_timestamp()` }))
    .execute()
}

/** Deletes the rows of conditions that no segment uses any more, some at a time. */
export async function deleteUnusedConditions(
  tenant: Tenant,
  definitions: Definitions,
  signal?: AbortSignal,
): Promise<void> {
  const noted = await tenant.db
    .selectFrom('segment_unused_matches')
    .select(['match_key', sql<string>`unused_since::text`.as('since')])
    .execute()
  for (let after = ZERO_ID; !signal?.aborted; ) {
    const deleted = await tenant.transaction(async (tx) => {
      // Locked, so that no segment starts using one of them before this ends.
      const used = new Set(keysOf((await definitions.of(tx)).contacts))
      const unused = noted.filter(({ match_key }) => !used.has(match_key)).map(({ match_key }) => match_key)
      const some = await tx.db
        .selectFrom('segment_met_conditions')
        .select(['contact_id', 'match_key'])
        .where('contact_id', '>=', after)
        .where('match_key', '=', sql<string>`ANY(${unused}::uuid[])`)
        .orderBy('contact_id')
        .limit(ROWS_AT_ONCE)
        .execute()
      await deleteMetConditions(tx, some)
      return some
    })
    after = deleted.at(-1)?.contact_id ?? after
    if (deleted.length === ROWS_AT_ONCE) continue
    for (const { match_key, since } of noted) {
      await tenant.db
        .deleteFrom('segment_unused_matches')
        .where('match_key', '=', match_key)
        .where(sql<boolean>`unused_since::text = ${since}`)
        .execute()
    }
    return
  }
}
