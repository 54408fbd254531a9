import { ownersOf, queryableGroups } from '../owners/owners.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { isOwnedBy } from '../platform/clickhouse/tenant-events.ts'
import { notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { timeOfId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EVENT_SELECT, type EventRow, toEventObjects } from './event-object.ts'
import { joinContacts, type People } from './people.ts'

const ID_MS = "fromUnixTimestamp64Milli({id_ms: Int64}, 'UTC')"
/** The first two sort columns of the table. */
const NEAR = [
  'is_system IN (0, 1)',
  `timestamp >= ${ID_MS} - INTERVAL 10 SECOND AND timestamp <= ${ID_MS} + INTERVAL 10 SECOND`,
]

/** One event with its contact and company. @throws ServiceError 404. */
export async function readEvent(tenant: Tenant, people: Pick<People, 'withCompanies'>, eventId: string) {
  const find = (where: string[], parameters: QueryParameters) =>
    tenant.events.select<EventRow>({
      name: 'events.read',
      lane: 'light',
      columns: EVENT_SELECT,
      where: ['event_id = {event_id: UUID}', ...where],
      parameters: { event_id: eventId, ...parameters },
      // An id that is sent again days later belongs to two events; the first one is returned.
      orderBy: 'received_at',
      limit: 1,
    })
  // Most ids contain the event's time; if the sender chose the id or the time, an index of ids finds the event.
  const moment = timeOfId(eventId)
  const near = moment === null ? [] : await find(NEAR, { id_ms: moment })
  const rows = near.length > 0 ? near : await find([], {})
  const [event] = await joinContacts(tenant, people, await toEventObjects(tenant, rows))
  if (!event) throw notFound('event')
  return event
}

/**
 * One page of the distinct names of a tenant's events, in alphabetical order, and their total: pages can send any
 * number of names. System events are excluded by default.
 */
export async function listEventTypes(
  tenant: Tenant,
  includeSystem: boolean,
  page: Page,
): Promise<{ types: string[]; total: number }> {
  const ofTypes = {
    lane: 'light',
    isRollup: true,
    where: includeSystem ? [] : ['is_system = 0'],
    parameters: {},
  } as const
  const rows = await tenant.events.select<{ event: string; total: number }>({
    ...ofTypes,
    name: 'events.types',
    columns: 'event, count() AS events',
    groupBy: 'event',
    outer: {
      columns: 'event, count() OVER () AS total',
      orderBy: 'event',
      limit: page.limit,
      offset: offsetOf(page),
    },
  })
  if (rows.length > 0 || page.page === 1) {
    return { types: rows.map(({ event }) => event), total: Number(rows[0]?.total ?? 0) }
  }
  const [counted] = await tenant.events.select<{ total: number }>({
    ...ofTypes,
    name: 'events.types_count',
    columns: 'event, count() AS events',
    groupBy: 'event',
    outer: { columns: 'count() AS total' },
  })
  return { types: [], total: Number(counted?.total ?? 0) }
}

/**
 * Where to look for some events: between two times, or among those of some contacts. The table is sorted by both. Or among
 * those of some names, for rare ones: only the names of all of the tenant's events are read.
 */
export type LookupRange =
  | { between: readonly [from: Date, to: Date] }
  | { contactIds: readonly string[] }
  | { events: readonly string[] }

/**
 * Those of some event ids, in lower case, that an event of the tenant has.
 * @param range null: anywhere. The index of ids then reads a large part of the tenant's events for hundreds of ids.
 */
export async function knownEventIds(
  tenant: Tenant,
  eventIds: readonly string[],
  range: LookupRange | null,
): Promise<string[]> {
  if (eventIds.length === 0) return []
  const find = async (where: string[], parameters: QueryParameters) => {
    const rows = await tenant.events.select<{ event_id: string }>({
      name: 'events.known_ids',
      lane: 'light',
      columns: 'DISTINCT event_id',
      where: [...where, 'event_id IN {event_ids: Array(UUID)}'],
      parameters: { event_ids: [...eventIds], ...parameters },
    })
    return rows.map(({ event_id }) => event_id)
  }
  if (range === null) return find([], {})
  if ('between' in range) {
    const [first, last] = range.between
    const time = (name: string) => `fromUnixTimestamp64Milli({${name}: Int64}, 'UTC')`
    const isBetween = `timestamp >= ${time('first_ms')} AND timestamp <= ${time('last_ms')}`
    return find(['is_system = 0', isBetween], { first_ms: first.getTime(), last_ms: last.getTime() })
  }
  if ('events' in range) {
    return find(['is_system = 0', 'event IN {names: Array(String)}'], { names: [...new Set(range.events)] })
  }
  const known: string[] = []
  for (const group of await queryableGroups(tenant, [...new Set(range.contactIds)])) {
    known.push(...(await find([isOwnedBy('owners')], { owners: await ownersOf(tenant, group) })))
  }
  return known
}
