import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import type { JournalTable } from './append.ts'
import type { Insertion } from './insertions.ts'

const momentOf = (name: string) => `fromUnixTimestamp64Milli({${name}: Int64}, 'UTC')`

/** Finds a row again by its table's key. An event whose id was sent again days later was received at another time. */
const SAME_ROW: Record<JournalTable, string> = {
  events: `tenant_id = {tenant_id: UUID} AND is_system = {is_system: Bool} AND timestamp = ${momentOf('timestamp')}
    AND event_id = {event_id: UUID} AND received_at = ${momentOf('received_at')}`,
  owner_links: 'tenant_id = {tenant_id: UUID} AND owner_id = {owner_id: UUID} AND version = {version: UInt32}',
}

/**
 * Inserts rows that may have been inserted before. The token alone does not tell: a table without replicas writes it to a
 * file of its own, before or after the rows by the version. Killed in between, ClickHouse takes the repetition for a
 * duplicate of rows that are lost, or does not recognise it. So the first row is looked for: an insertion is stored whole
 * or not at all.
 */
export async function insertAgain(
  clickhouse: ClickHouse,
  insert: (insertion: Insertion) => Promise<void>,
  insertion: Insertion,
): Promise<void> {
  const row = firstRowOf(insertion)
  if (row === null) return insert(insertion)
  // The second token follows from the first, so that repeating this is safe as well.
  for (const token of [insertion.token, `${insertion.token}/again`]) {
    if (await isThere(clickhouse, insertion.table, row)) return
    await insert({ ...insertion, token })
  }
}

async function isThere(clickhouse: ClickHouse, table: JournalTable, row: QueryParameters): Promise<boolean> {
  const found = await clickhouse.query(`SELECT 1 FROM ${table} WHERE ${SAME_ROW[table]} LIMIT 1`, row, { threads: 1 })
  return found.length > 0
}

/** What finds the first row; null when it cannot be read, and ClickHouse will say why. */
function firstRowOf({ table, body }: Insertion): QueryParameters | null {
  try {
    const [names = [], values = []] = body.split('\n', 2).map((line) => JSON.parse(line) as string[])
    const row = new Map(names.map((name, index) => [name, values[index]]))
    const wanted = [...SAME_ROW[table].matchAll(/\{(\w+):/g)].map(([, name = '']) => [name, row.get(name)] as const)
    return wanted.every((entry): entry is [string, string] => entry[1] !== undefined)
      ? Object.fromEntries(wanted)
      : null
  } catch {
    return null
  }
}
