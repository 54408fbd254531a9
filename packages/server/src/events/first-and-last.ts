import { contactsOf, type Owned } from '../owners/owners.ts'
import type { Tenant } from '../platform/tenant.ts'
import { isoOf, textOrNull } from './event-object.ts'
import { EVENT_ID_ORDER } from './table.ts'

interface Seen {
  event_id: string
  event: string
  timestamp: string
  url: string | null
  visitor_id: string
  contact_id: string | null
}

interface Row extends Owned {
  event_id: string
  event: string
  timestamp_ms: number
  url: string
  visitor_id: string
}

/**
 * The first and the latest event of a visitor who is not a bot, read from the ends of the table, which is sorted by time.
 */
export async function firstAndLastEvent(tenant: Tenant): Promise<{ first: Seen | null; last: Seen | null }> {
  const one = async (direction: 'ASC' | 'DESC'): Promise<Seen | null> => {
    const [row] = await tenant.events.select<Row>({
      name: 'events.first_and_last',
      lane: 'light',
      columns:
        'event_id, event, toUnixTimestamp64Milli(timestamp) AS timestamp_ms, url, visitor_id, owner_id, is_anonymous',
      where: ['is_system = 0', 'is_bot = 0', "visitor_id != ''"],
      parameters: {},
      orderBy: `timestamp ${direction}, ${EVENT_ID_ORDER} ${direction}`,
      limit: 1,
    })
    if (!row) return null
    const { event_id, event, timestamp_ms, url, visitor_id } = row
    const contacts = await contactsOf(tenant, [row])
    const contact_id = contacts.get(row.owner_id) ?? null
    return { event_id, event, timestamp: isoOf(timestamp_ms), url: textOrNull(url), visitor_id, contact_id }
  }
  const [first, last] = await Promise.all([one('ASC'), one('DESC')])
  return { first, last }
}
