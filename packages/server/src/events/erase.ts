import { type Deletion, deleteRows } from '../platform/clickhouse/delete-rows.ts'
import { EVENTS_TABLE } from './table.ts'

/** Other people's events that mention the address are deleted by id, this many per statement. */
const EVENTS_PER_DELETE = 1_000
/** Columns in which a person's address may occur; names and ids that the service generates cannot contain one. */
const TEXTS =
  "concat(url, '\\n', referrer, '\\n', title, '\\n', text, '\\n', data, '\\n', class, '\\n', element_id, '\\n', event, '\\n', analytics_user_id, '\\n', visitor_id, '\\n', session_id)"

/** How to find an address in a text, in any case: a substring of each occurrence, and a regular expression. */
interface Mention {
  hint: string
  pattern: string
}

/**
 * Deletes the events of some owners, and those of others that mention their address. Deletes by id, because ClickHouse
 * stores the text of a deletion, which must not contain the address. @returns how many there were.
 */
export async function deleteEvents(
  deletion: Deletion,
  tenantId: string,
  owners: readonly string[],
  mention: Mention | null,
): Promise<number> {
  let erased = 0
  for (;;) {
    const mentions = mention === null ? [] : await eventsMentioning(deletion, tenantId, mention, owners)
    const conditions = `tenant_id = {tenant_id: UUID}
      AND (owner_id IN {owners: Array(UUID)} OR event_id IN {event_ids: Array(UUID)})`
    const parameters = { tenant_id: tenantId, owners: [...owners], event_ids: mentions }
    erased += await deleteRows(deletion, EVENTS_TABLE, conditions, parameters)
    if (mentions.length < EVENTS_PER_DELETE) return erased
  }
}

/** Deletes all events of a tenant. @returns how many there were. */
export function deleteEventsOfTenant(deletion: Deletion, tenantId: string): Promise<number> {
  return deleteRows(deletion, EVENTS_TABLE, 'tenant_id = {tenant_id: UUID}', { tenant_id: tenantId })
}

/** Other people's events that mention the person's address. */
async function eventsMentioning(
  { clickhouse }: Deletion,
  tenantId: string,
  { hint, pattern }: Mention,
  owners: readonly string[],
): Promise<string[]> {
  const rows = await clickhouse.query<{ event_id: string }>(
    `SELECT event_id FROM events WHERE tenant_id = {tenant_id: UUID} AND owner_id NOT IN {owners: Array(UUID)}
      AND positionCaseInsensitiveUTF8(${TEXTS}, {hint: String}) > 0
      AND match(${TEXTS}, {pattern: String}) LIMIT ${EVENTS_PER_DELETE}`,
    { tenant_id: tenantId, owners: [...owners], hint, pattern: `(?i)${pattern}` },
  )
  return rows.map(({ event_id }) => event_id)
}
