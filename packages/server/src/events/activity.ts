import type Type from 'typebox'
import { contactsOf, type Owned, queryableGroups } from '../owners/owners.ts'
import type { Tenant } from '../platform/tenant.ts'
import { conditionsOf } from './conditions.ts'
import { type ActivityEvent, isoOf, textOrNull } from './event-object.ts'
import type { EventFilters } from './filters.ts'
import { EVENT_ID_ORDER } from './table.ts'

interface Activity {
  events: Type.Static<typeof ActivityEvent>[]
  total_events: number
}

interface Row extends Owned {
  event_id: string
  event: string
  url: string
  title: string
  timestamp_ms: number
  /** The owner's number of matching events. */
  total: number
}

/**
 * The latest events and the event count of each contact that has events, in a single query unless the contacts have
 * more visitors than one can name: an owner's events are adjacent in the projection by owner, so reading their texts
 * costs less than a second query.
 */
export async function activityOfContacts(
  tenant: Tenant,
  contactIds: readonly string[],
  filters: Omit<EventFilters, 'contact_id' | 'contact_ids'>,
  limit: number,
): Promise<Map<string, Activity>> {
  const activity = new Map<string, Activity>()
  for (const group of await queryableGroups(tenant, contactIds)) {
    for (const [contactId, of] of await activityOf(tenant, { ...filters, contact_ids: group }, limit)) {
      activity.set(contactId, of)
    }
  }
  return activity
}

async function activityOf(tenant: Tenant, filters: EventFilters, limit: number): Promise<Map<string, Activity>> {
  const { where, parameters } = await conditionsOf(tenant, filters)
  const rows = await tenant.events.select<Row>({
    name: 'events.activity',
    lane: 'light',
    columns: `owner_id, is_anonymous, event_id, event, url, title, toUnixTimestamp64Milli(timestamp) AS timestamp_ms,
      count() OVER (PARTITION BY owner_id) AS total`,
    where,
    parameters,
    orderBy: `timestamp DESC, ${EVENT_ID_ORDER} DESC`,
    limitBy: { rows: limit, columns: 'owner_id' },
  })
  const contacts = await contactsOf(tenant, rows)
  const activity = new Map<string, Activity>()
  const counted = new Set<string>()
  for (const row of rows) {
    const contactId = contacts.get(row.owner_id)
    if (contactId === undefined) continue
    const of = activity.get(contactId) ?? { events: [], total_events: 0 }
    activity.set(contactId, of)
    if (!counted.has(row.owner_id)) of.total_events += Number(row.total)
    counted.add(row.owner_id)
    if (of.events.length < limit) of.events.push(toActivityEvent(row))
  }
  return activity
}

function toActivityEvent(row: Row): Type.Static<typeof ActivityEvent> {
  return {
    id: row.event_id,
    event: row.event,
    url: textOrNull(row.url),
    timestamp: isoOf(row.timestamp_ms),
    title: textOrNull(row.title),
  }
}
