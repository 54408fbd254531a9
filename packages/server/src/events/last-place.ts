import { contactsOf, type Owned, queryableGroups } from '../owners/owners.ts'
import type { Place } from '../platform/places.ts'
import type { Tenant } from '../platform/tenant.ts'
import { conditionsOf } from './conditions.ts'
import { EVENT_ID_ORDER } from './table.ts'

interface Row extends Owned {
  last: [country: string, region: string, city: string, timestampMs: number | string]
}

/** Where some contacts were at their last visits, and when. Those of whom no event says it are missing. */
export async function lastPlacesOf(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, Place & { at: Date }>> {
  const places = new Map<string, Place & { at: Date }>()
  for (const group of await queryableGroups(tenant, contactIds)) {
    const { where, parameters } = await conditionsOf(tenant, { contact_ids: group })
    const rows = await tenant.events.select<Row>({
      name: 'events.last_places',
      lane: 'light',
      columns: `owner_id, is_anonymous, argMax((country, region, city, toUnixTimestamp64Milli(timestamp)),
        (timestamp, ${EVENT_ID_ORDER})) AS last`,
      where: [...where, "country != ''", 'is_bot = 0'],
      parameters,
      groupBy: 'owner_id, is_anonymous',
    })
    const contacts = await contactsOf(tenant, rows)
    for (const { owner_id, last } of rows) {
      const contactId = contacts.get(owner_id)
      const [country, region, city, timestampMs] = last
      const at = new Date(Number(timestampMs))
      const known = contactId === undefined ? undefined : places.get(contactId)
      if (contactId === undefined || (known && known.at > at)) continue
      places.set(contactId, { country, region, city, at })
    }
  }
  return places
}
