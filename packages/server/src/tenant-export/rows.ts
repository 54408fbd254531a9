import { type Kysely, sql } from 'kysely'
import { EVENT_ID_ORDER } from '../events/table.ts'
import { contactsOf, type Owned } from '../owners/owners.ts'
import type { AnyTable } from '../platform/postgres/table-rules.ts'
import { LOADED_BYTES_MAX, pagesOf } from '../platform/response-size.ts'
import type { Tenant } from '../platform/tenant.ts'

const ROWS_PER_PAGE = 1_000
const EVENTS_PER_PAGE = 10_000

type Row = Record<string, unknown>
interface EventKey extends Owned {
  timestamp_ms: number
  event_id: string
}

type AnyTables = Record<string, Row>

/** A table in an export. */
export interface ExportedRows {
  name: string
  key: readonly string[]
  without: readonly string[]
  rowsPerPage: number
  isLarge: boolean
}

/** The tables in an export. */
export function exportedRows(tables: readonly AnyTable[]): ExportedRows[] {
  return tables.flatMap(({ name, key, sealed = {}, export: exported = 'none' }) => {
    if (exported === 'none') return []
    const { without = [], rowsPerPage = ROWS_PER_PAGE, isLarge = false } = exported
    return { name, key, without: [...without, ...Object.keys(sealed)], rowsPerPage, isLarge }
  })
}

/** Reads a table page by page in key order, so that memory use stays constant. */
export async function* tableRows(
  tenant: Tenant,
  { name: table, key, without, rowsPerPage }: ExportedRows,
): AsyncGenerator<Row[]> {
  const db = anyTable(tenant)
  // The one row of a tenant is sorted by the tenant.
  const order = (key.length > 0 ? key : ['tenant_id']).map((column) => sql.ref(`${table}.${column}`))
  const pages = pagesOf<Row>(rowsPerPage, (limit, after) => {
    let query = db.selectFrom(table).selectAll(table)
    if (after) {
      const values = key.map((column) => after[column])
      query = query.where(sql<boolean>`(${sql.join(order)}) > (${sql.join(values)})`)
    }
    return query.orderBy(sql.join(order)).limit(limit).execute()
  })
  for await (const rows of pages) yield rows.map((row) => withoutColumns(row, without))
}

export async function countRows(tenant: Tenant, table: string): Promise<number> {
  const rows = anyTable(tenant).selectFrom(table)
  return (await rows.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count
}

/** For tables of any name. The tenant is added to these queries like to any other. */
function anyTable({ db }: Tenant): Kysely<AnyTables> {
  return db as unknown as Kysely<AnyTables>
}

function withoutColumns(row: Row, without: readonly string[]): Row {
  const entries = Object.entries(row).filter(([name]) => name !== 'tenant_id' && !without.includes(name))
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString('hex') : value]),
  )
}

/** Every event including system events, oldest first, with the columns of its table and the contact that it belongs to. */
export async function* eventRows(tenant: Tenant): AsyncGenerator<Row[]> {
  for (const isSystem of [0, 1]) {
    const pages = pagesOf<Row & EventKey>(EVENTS_PER_PAGE, (limit, after) =>
      tenant.events.select<Row & EventKey>({
        name: 'export.events',
        lane: 'export',
        columns: `* EXCEPT (tenant_id, timestamp, received_at, sequence), toUnixTimestamp64Milli(timestamp) AS timestamp_ms,
          toUnixTimestamp64Milli(received_at) AS received_at_ms`,
        where: [
          `is_system = ${isSystem}`,
          ...(after
            ? // The first condition is for the index, the second selects the rows.
              [`timestamp >= ${AFTER}`, `timestamp > ${AFTER} OR ${EVENT_ID_ORDER} > toUInt128({after_id: UUID})`]
            : []),
        ],
        parameters: after ? { after_ms: Number(after.timestamp_ms), after_id: after.event_id } : {},
        orderBy: `timestamp ASC, ${EVENT_ID_ORDER} ASC`,
        limit,
        bytesMax: LOADED_BYTES_MAX,
      }),
    )
    for await (const rows of pages) {
      const contacts = await contactsOf(tenant, rows)
      yield rows.map((row) => toExported(row, contacts.get(row.owner_id) ?? null))
    }
  }
}

const AFTER = "fromUnixTimestamp64Milli({after_ms: Int64}, 'UTC')"

function toExported({ timestamp_ms, received_at_ms, data, ...row }: Row, contactId: string | null): Row {
  return {
    ...row,
    contact_id: contactId,
    timestamp: new Date(Number(timestamp_ms)).toISOString(),
    received_at: new Date(Number(received_at_ms)).toISOString(),
    data: JSON.parse(String(data) || '{}'),
  }
}
