import { LONG_COLUMNS } from '../journal/event-record.ts'
import { contactsOf } from '../owners/owners.ts'
import { isDeep, offsetOf, type Page } from '../platform/http/pagination.ts'
import { isResponseTooLarge, itemsWithin } from '../platform/response-size.ts'
import type { Tenant } from '../platform/tenant.ts'
import { conditionsOf, readsEverything } from './conditions.ts'
import { EVENT_SELECT, type EventRow, isoOf, textOrNull, toEventObjects } from './event-object.ts'
import type { EventFilters } from './filters.ts'
import { rollupConditions } from './rollups.ts'
import { EVENT_ID_ORDER } from './table.ts'

export interface EventOrder {
  sortBy: 'timestamp' | 'event' | 'createdAt'
  direction: 'asc' | 'desc'
}

const EVENT_BYTES = `byteSize(${LONG_COLUMNS.join(', ')}) AS bytes`
const EVENT_BYTES_BESIDE_TEXTS = 1_000
const SORT_COLUMNS = { timestamp: 'timestamp', event: 'event', createdAt: 'received_at' } as const

/** One page of the matching events. */
export async function listEvents(tenant: Tenant, filters: EventFilters, order: EventOrder, page: Page) {
  const rows = await selectPage<EventRow>(tenant, filters, order, page, EVENT_SELECT)
  return toEventObjects(tenant, rows)
}

/** One page of the matching events in compact form. */
export async function listEventSummaries(tenant: Tenant, filters: EventFilters, order: EventOrder, page: Page) {
  const columns = 'event_id, event, toUnixTimestamp64Milli(timestamp) AS timestamp_ms, url, owner_id, is_anonymous'
  type Row = Pick<EventRow, 'event_id' | 'event' | 'timestamp_ms' | 'url' | 'owner_id' | 'is_anonymous'>
  const rows = await selectPage<Row>(tenant, filters, order, page, columns)
  const contacts = await contactsOf(tenant, rows)
  return rows.map((row) => ({
    id: row.event_id,
    event: row.event,
    url: textOrNull(row.url),
    timestamp: isoOf(row.timestamp_ms),
    contact_id: contacts.get(row.owner_id) ?? null,
  }))
}

/**
 * The first matching events: at most `limit`, and as many as fit into `bytesMax` of JSON.
 */
export async function findEvents(
  tenant: Tenant,
  filters: EventFilters,
  order: EventOrder,
  { limit, bytesMax }: { limit: number; bytesMax: number },
) {
  const find = (rows: number) =>
    selectPage<EventRow>(tenant, filters, order, { page: 1, limit: rows }, EVENT_SELECT, bytesMax)
  const rows = await find(limit).catch(async (error: unknown) => {
    if (!isResponseTooLarge(error)) throw error
    // Their sizes determine how many can be read.
    const sizes = await selectPage<{ bytes: number }>(tenant, filters, order, { page: 1, limit }, EVENT_BYTES)
    return findFewer(find, rowsWithin(sizes, bytesMax / 2))
  })
  return itemsWithin(await toEventObjects(tenant, rows), bytesMax)
}

/** A control character has six bytes in JSON, so events that were estimated to fit may still be too large. */
async function findFewer<Row>(find: (rows: number) => Promise<Row[]>, rows: number): Promise<Row[]> {
  try {
    return await find(rows)
  } catch (error) {
    if (!isResponseTooLarge(error) || rows === 1) throw error
    return findFewer(find, Math.ceil(rows / 2))
  }
}

/** How many of the first rows fit; ClickHouse needs a little more for a row than its texts. */
function rowsWithin(sizes: readonly { bytes: number }[], bytesMax: number): number {
  let left = bytesMax
  const end = sizes.findIndex(({ bytes }) => {
    left -= Number(bytes) + EVENT_BYTES_BESIDE_TEXTS
    return left < 0
  })
  return end < 0 ? sizes.length : Math.max(1, end)
}

/** The number of matching events. */
export async function countEvents(tenant: Tenant, filters: EventFilters): Promise<number> {
  const rollup = rollupConditions(filters, [])
  const { where, parameters } = rollup ?? (await conditionsOf(tenant, filters))
  const [row] = await tenant.events.select<{ count: number }>({
    name: 'events.count',
    lane: rollup === null && readsEverything(filters) ? 'heavy' : 'light',
    isRollup: rollup !== null,
    columns: 'count() AS count',
    where,
    parameters,
  })
  return Number(row?.count ?? 0)
}

async function selectPage<Row>(
  tenant: Tenant,
  filters: EventFilters,
  order: EventOrder,
  page: Page,
  columns: string,
  bytesMax?: number,
) {
  const { where, parameters } = await conditionsOf(tenant, filters)
  const column = SORT_COLUMNS[order.sortBy]
  const direction = order.direction === 'asc' ? 'ASC' : 'DESC'
  // Ends with the id, so that the order is total and pages never repeat or skip an event.
  const sorted = [...new Set([column, 'timestamp', EVENT_ID_ORDER])].map((name) => `${name} ${direction}`)
  const isLight = !readsEverything(filters) && column === 'timestamp' && !isDeep(page)
  return tenant.events.select<Row>({
    name: 'events.list',
    lane: isLight ? 'light' : 'heavy',
    columns,
    where,
    parameters,
    orderBy: sorted.join(', '),
    limit: page.limit,
    offset: offsetOf(page),
    ...(bytesMax === undefined ? {} : { bytesMax }),
  })
}
