import type { Tenant } from '../platform/tenant.ts'
import { isoOf, textOrNull } from './event-object.ts'
import { EVENT_ID_ORDER } from './table.ts'

interface Seen {
  timestamp: string
  url: string | null
}

/** The first and the latest event of a visitor, read from the ends of the table, which is sorted by time. */
export async function firstAndLastEvent(tenant: Tenant): Promise<{ first: Seen | null; last: Seen | null }> {
  const one = async (direction: 'ASC' | 'DESC'): Promise<Seen | null> => {
    const [row] = await tenant.events.select<{ timestamp_ms: number; url: string }>({
      name: 'events.first_and_last',
      lane: 'light',
      columns: 'toUnixTimestamp64Milli(timestamp) AS timestamp_ms, url',
      where: ['is_system = 0', "visitor_id != ''"],
      parameters: {},
      orderBy: `timestamp ${direction}, ${EVENT_ID_ORDER} ${direction}`,
      limit: 1,
    })
    return row ? { timestamp: isoOf(row.timestamp_ms), url: textOrNull(row.url) } : null
  }
  const [first, last] = await Promise.all([one('ASC'), one('DESC')])
  return { first, last }
}
