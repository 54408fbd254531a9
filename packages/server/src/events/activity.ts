import type Type from 'typebox'
import type { Tenant } from '../platform/tenant.ts'
import { contactsOf, type Owned } from '../visitors/owners.ts'
import { type ActivityEvent, isoOf, textOrNull } from './event-object.ts'
import { conditionsOf, type EventFilters, eventConditions } from './filters.ts'
import { EVENT_ID_ORDER } from './table.ts'

interface Activity {
  events: Type.Static<typeof ActivityEvent>[]
  total_events: number
}

interface Latest extends Owned {
  event_id: string
  at: string
  total: number
}

interface Row {
  event_id: string
  event: string
  url: string
  title: string
  timestamp_ms: number
}

/**
 * The latest events of each contact that has some, and how many it has, in two queries however many contacts. The
 * first finds ids and counts in the narrow columns alone; the texts are then read of the few events that are shown,
 * which halves the time where the contacts have thousands.
 */
export async function activityOfContacts(
  tenant: Tenant,
  filters: EventFilters,
  limit: number,
): Promise<Map<string, Activity>> {
  const latest = await findLatest(tenant, filters, limit)
  if (latest.length === 0) return new Map()
  const rows = await tenant.events.select<Row>({
    name: 'events.activity',
    lane: 'light',
    columns: 'event_id, event, url, title, toUnixTimestamp64Milli(timestamp) AS timestamp_ms',
    where: [
      ...eventConditions({ includeSystem: filters.includeSystem ?? false }).where,
      "timestamp IN {times: Array(DateTime64(3, 'UTC'))}",
      'event_id IN {event_ids: Array(UUID)}',
    ],
    parameters: { times: [...new Set(latest.map(({ at }) => at))], event_ids: latest.map(({ event_id }) => event_id) },
    // Of two events with one id (see readEvent) the first one stays in the Map.
    orderBy: 'received_at DESC',
  })
  const events = new Map(rows.map((row) => [row.event_id, row]))
  const contacts = await contactsOf(tenant, latest)
  const activity = new Map<string, Activity>()
  const counted = new Set<string>()
  for (const { owner_id, event_id, total } of latest) {
    const contactId = contacts.get(owner_id)
    if (contactId === undefined) continue
    const of = activity.get(contactId) ?? { events: [], total_events: 0 }
    activity.set(contactId, of)
    if (!counted.has(owner_id)) of.total_events += Number(total)
    counted.add(owner_id)
    const row = events.get(event_id)
    if (row && of.events.length < limit) of.events.push(toActivityEvent(row))
  }
  return activity
}

/** The latest events of each owner, newest first. */
async function findLatest(tenant: Tenant, filters: EventFilters, limit: number): Promise<Latest[]> {
  const { where, parameters } = await conditionsOf(tenant, filters)
  return tenant.events.select<Latest>({
    name: 'events.latest_of_contacts',
    lane: 'light',
    columns:
      'owner_id, is_anonymous, event_id, toString(timestamp) AS at, count() OVER (PARTITION BY owner_id) AS total',
    where,
    parameters,
    orderBy: `timestamp DESC, ${EVENT_ID_ORDER} DESC`,
    limitBy: { rows: limit, columns: 'owner_id' },
  })
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
