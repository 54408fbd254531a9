import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import type { JournalTable } from './append.ts'
import type { Insertion } from './insertions.ts'

const timeOf = (name: string) => `fromUnixTimestamp64Milli({${name}: Int64}, 'UTC')`

/** Finds a row by its table's key. An event whose id was sent again days later has another time of receipt. */
const SAME_ROW: Record<JournalTable, string> = {
  events: `tenant_id = {tenant_id: UUID} AND is_system = {is_system: Bool} AND timestamp = ${timeOf('timestamp')}
    AND event_id = {event_id: UUID} AND received_at = ${timeOf('received_at')}`,
  owner_links: 'tenant_id = {tenant_id: UUID} AND owner_id = {owner_id: UUID} AND version = {version: UInt32}',
}

/**
 * Inserts rows that may have been inserted before. The token alone does not prove it: a table without replicas writes
 * tokens to a separate file, before or after the rows, depending on the version. If ClickHouse is killed in between, it
 * treats the repetition as a duplicate of lost rows, or does not recognize it. So the first row is looked up: an
 * insertion is stored whole or not at all.
 */
export async function insertAgain(
  clickhouse: ClickHouse,
  insert: (insertion: Insertion) => Promise<void>,
  insertion: Insertion,
): Promise<void> {
  const row = firstRowOf(insertion)
  if (row === null) return insert(insertion)
  // The second token is derived from the first, so that repeating this is safe too.
  for (const token of [insertion.token, `${insertion.token}/again`]) {
    if (await isStored(clickhouse, insertion.table, row)) return
    await insert({ ...insertion, token })
  }
}

async function isStored(clickhouse: ClickHouse, table: JournalTable, row: QueryParameters): Promise<boolean> {
  const found = await clickhouse.query(`SELECT 1 FROM ${table} WHERE ${SAME_ROW[table]} LIMIT 1`, row, { threads: 1 })
  return found.length > 0
}

/** The key of the first row; null if it cannot be parsed, in which case ClickHouse reports the error. */
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
