import { sql } from 'kysely'
import { type ContactRange, rangesOfContacts } from '../contacts/ranges.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Definition, Definitions } from './definitions.ts'
import { type ConditionResult, groupsOf, type QuestionGroup, streamResults } from './events.ts'
import { type RangeResults, storeResultsOfRange } from './met-conditions.ts'

/**
 * Contacts per ClickHouse query, which reads all events of the tenant; its result uses about 50 MB until it is stored.
 */
const CONTACTS_PER_QUERY = 1_000_000
/** Contacts whose results are written in one transaction. */
const CONTACTS_PER_TRANSACTION = 20_000

/**
 * Queries ClickHouse for a segment's event conditions for all contacts and stores the results.
 * @returns false if aborted, or if the segment has changed.
 */
export async function refreshMetConditions(
  tenant: Tenant,
  definitions: Definitions,
  { segmentId, revision, matches }: Definition,
  now: Date,
  stopping: AbortSignal,
): Promise<boolean> {
  for await (const range of rangesOfContacts(tenant, CONTACTS_PER_QUERY)) {
    for (const group of groupsOf(matches)) {
      for (const part of await readResults(tenant, group, range, now)) {
        if (stopping.aborted) return false
        const isWritten = await tenant.transaction(async (tx) => {
          // Locked, so that nothing is written for a deleted segment.
          const known = await definitions.of(tx)
          if (!known.contacts.some((each) => each.segmentId === segmentId && each.revision === revision)) return false
          await storeResultsOfRange(tx, group, part)
          return true
        })
        if (!isWritten) return false
      }
    }
  }
  return true
}

/** Reads the whole result, in compact form, so that ClickHouse need not wait for PostgreSQL's writes. */
async function readResults(
  tenant: Tenant,
  group: QuestionGroup,
  { after, upTo }: ContactRange,
  now: Date,
): Promise<RangeResults[]> {
  const { rows } = await sql<{ now: string }>`SELECT clock_timestamp()::text AS now`.execute(tenant.db)
  const queriedAt = rows[0]?.now ?? ''
  const parts: RangeResults[] = []
  let results: ConditionResult[] = []
  const end = (upTo: string) => {
    parts.push({
      after: parts.at(-1)?.upTo ?? after,
      upTo,
      queriedAt,
      contactIds: `{${results.map(({ contact_id }) => contact_id).join(',')}}`,
      hits: `{${results.map(({ hits }) => hits).join(',')}}`,
    })
    results = []
  }
  for await (const some of streamResults(tenant, group, { after, upTo }, now)) {
    for (const result of some) if (result.hits.includes('1')) results.push(result)
    const last = results.at(-1)
    if (results.length >= CONTACTS_PER_TRANSACTION && last) end(last.contact_id)
  }
  end(upTo)
  return parts
}
