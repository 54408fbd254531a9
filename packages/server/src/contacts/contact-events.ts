import type Type from 'typebox'
import type { ContactEvent, EventObject } from '../events/event-object.ts'
import type { EventFilters } from '../events/filters.ts'
import { countEvents, findEvents } from '../events/list.ts'
import type { Tenant } from '../platform/tenant.ts'
import { missingContact } from './aliases.ts'
import { knownContacts } from './read.ts'

export const EVENTS_MAX = 1_000
/** The size limit for the events of one response, as JSON. */
const EVENTS_BYTES_MAX = 8 * 1024 * 1024

/**
 * The matching events of a contact, at most 1,000 and 8 MiB, and their total. A deleted contact exists as long as it
 * has events, including system events.
 * @throws ServiceError 404.
 */
export async function readContactEvents(
  tenant: Tenant,
  contactId: string,
  filters: EventFilters,
  direction: 'asc' | 'desc',
): Promise<{ events: EventObject[]; total: number }> {
  const ofContact = { ...filters, contact_id: contactId }
  const [known, events, total] = await Promise.all([
    knownContacts(tenant, [contactId]),
    findEvents(
      tenant,
      ofContact,
      { sortBy: 'timestamp', direction },
      { limit: EVENTS_MAX, bytesMax: EVENTS_BYTES_MAX },
    ),
    countEvents(tenant, ofContact),
  ])
  const isKnown = known.size > 0 || total > 0 || (await hasAnyEvent(tenant, contactId))
  if (!isKnown) throw await missingContact(tenant, contactId)
  return { events, total }
}

async function hasAnyEvent(tenant: Tenant, contactId: string): Promise<boolean> {
  return (await countEvents(tenant, { contact_id: contactId, includeSystem: true })) > 0
}

/** An event in the compact form of this list. */
export function toContactEvent(event: EventObject): Type.Static<typeof ContactEvent> {
  const { event_id, _id, event: name, timestamp, url, internal_contact_id } = event
  return { event_id, _id, event: name, timestamp, url, contact_id: internal_contact_id }
}
