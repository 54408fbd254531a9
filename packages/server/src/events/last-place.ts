import type { Place } from '../platform/places.ts'
import type { Tenant } from '../platform/tenant.ts'
import { conditionsOf } from './conditions.ts'
import { EVENT_ID_ORDER } from './table.ts'

/** Where a contact was at its last visit, and when; null if no event says. */
export async function lastPlaceOf(tenant: Tenant, contactId: string): Promise<(Place & { at: Date }) | null> {
  const { where, parameters } = await conditionsOf(tenant, { contact_id: contactId })
  const [row] = await tenant.events.select<Place & { timestamp_ms: number }>({
    name: 'events.last_place',
    lane: 'light',
    columns: 'country, region, city, toUnixTimestamp64Milli(timestamp) AS timestamp_ms',
    where: [...where, "country != ''", 'is_bot = 0'],
    parameters,
    orderBy: `timestamp DESC, ${EVENT_ID_ORDER} DESC`,
    limit: 1,
  })
  if (!row) return null
  const { country, region, city, timestamp_ms } = row
  return { country, region, city, at: new Date(Number(timestamp_ms)) }
}
