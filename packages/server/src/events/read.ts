import { notFound } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EVENT_COLUMNS, type EventRow, toEventObject } from './event-object.ts'
import { joinContacts } from './join.ts'

/** One event with its contact and company. @throws ServiceError 404. */
export async function readEvent(tenant: Tenant, eventId: string) {
  const rows = await tenant.events.select<EventRow>({
    name: 'events.read',
    lane: 'light',
    columns: EVENT_COLUMNS,
    where: ['event_id = {event_id: UUID}'],
    parameters: { event_id: eventId },
    // An id that is sent again after days names two events: it stays that of the first.
    orderBy: 'received_at',
    limit: 1,
  })
  const [event] = await joinContacts(tenant, rows.map(toEventObject))
  if (!event) throw notFound('event')
  return event
}

/** The distinct names of a tenant's events, in alphabetical order; the service's own are left out unless asked for. */
export async function listEventTypes(tenant: Tenant, includeSystem: boolean): Promise<string[]> {
  const rows = await tenant.events.select<{ event: string }>({
    name: 'events.types',
    lane: 'heavy',
    columns: 'event',
    where: includeSystem ? [] : ['is_system = 0'],
    parameters: {},
    groupBy: 'event',
    orderBy: 'event',
  })
  return rows.map(({ event }) => event)
}
