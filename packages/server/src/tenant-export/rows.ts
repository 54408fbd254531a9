import { type Kysely, sql } from 'kysely'
import { pageBounds } from '../events/pages.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { EXPORTED } from './tables.ts'

const ROWS_A_PAGE = 1_000
const EVENTS_A_PAGE = 10_000

type Row = Record<string, unknown>
type AnyTables = Record<string, Row>

/** The rows of a table, some at a time, in the order of its key: memory stays flat. */
export async function* tableRows(
  tenant: Tenant,
  table: string,
  { key, without = [] }: NonNullable<(typeof EXPORTED)[keyof typeof EXPORTED]>,
): AsyncGenerator<Row[]> {
  // The table's name comes from a list in the code; the plugin confines it to the tenant as it does every other.
  const db = tenant.db as unknown as Kysely<AnyTables>
  const order = key.map((column) => sql.ref(`${table}.${column}`))
  for (let last: Row | undefined; ; ) {
    let query = db.selectFrom(table).selectAll(table)
    if (last) {
      const values = key.map((column) => last?.[column])
      query = query.where(sql<boolean>`(${sql.join(order)}) > (${sql.join(values)})`)
    }
    const rows = await query.orderBy(sql.join(order)).limit(ROWS_A_PAGE).execute()
    if (rows.length > 0) yield rows.map((row) => shown(row, without))
    last = rows.at(-1)
    if (rows.length < ROWS_A_PAGE) return
  }
}

function shown(row: Row, without: readonly string[]): Row {
  const entries = Object.entries(row).filter(([name]) => name !== 'tenant_id' && !without.includes(name))
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString('hex') : value]),
  )
}

/** Every event, the service's own too, oldest first, in the columns of its table. */
export async function* eventRows(tenant: Tenant): AsyncGenerator<Row[]> {
  for (const isSystem of [0, 1]) {
    const all = { where: [`is_system = ${isSystem}`], parameters: {} }
    for await (const bounds of pageBounds(tenant, all, 'ASC', EVENTS_A_PAGE)) {
      const rows = await tenant.events.select<Row>({
        name: 'export.events',
        columns: `* EXCEPT (tenant_id, timestamp, received_at), toUnixTimestamp64Milli(timestamp) AS timestamp_ms,
          toUnixTimestamp64Milli(received_at) AS received_at_ms`,
        where: [...all.where, ...bounds.where],
        parameters: bounds.parameters,
        orderBy: 'timestamp ASC, event_id ASC',
      })
      if (rows.length > 0) yield rows.map(toExported)
    }
  }
}

function toExported({ timestamp_ms, received_at_ms, data, ...row }: Row): Row {
  return {
    ...row,
    timestamp: new Date(Number(timestamp_ms)).toISOString(),
    received_at: new Date(Number(received_at_ms)).toISOString(),
    data: JSON.parse(String(data) || '{}'),
  }
}
