import type Type from 'typebox'
import type { Tenant } from '../platform/tenant.ts'
import { conditionsOf } from './conditions.ts'
import { type CompactEvent, isoOf, textOrNull } from './event-object.ts'
import { EVENT_ID_ORDER } from './table.ts'

interface Row {
  event_id: string
  event: string
  timestamp_ms: number
  url: string
  title: string
}

/** The latest events of a contact in compact form, and their total. */
export async function compactEventsOfContact(tenant: Tenant, contactId: string, limit: number) {
  const { where, parameters } = await conditionsOf(tenant, { contact_id: contactId })
  const [rows, counted] = await Promise.all([
    tenant.events.select<Row>({
      name: 'events.of_contact',
      lane: 'light',
      columns: 'event_id, event, toUnixTimestamp64Milli(timestamp) AS timestamp_ms, url, title',
      where,
      parameters,
      orderBy: `timestamp DESC, ${EVENT_ID_ORDER} DESC`,
      limit,
    }),
    tenant.events.select<{ count: number }>({
      name: 'events.count_of_contact',
      lane: 'light',
      columns: 'count() AS count',
      where,
      parameters,
    }),
  ])
  return { events: rows.map(toCompactEvent), total_events: Number(counted[0]?.count ?? 0) }
}

function toCompactEvent(row: Row): Type.Static<typeof CompactEvent> {
  return {
    event_id: row.event_id,
    _id: row.event_id,
    event: row.event,
    timestamp: isoOf(row.timestamp_ms),
    url: textOrNull(row.url),
    title: textOrNull(row.title),
  }
}
