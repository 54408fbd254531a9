import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { eventConditions } from './conditions.ts'

const EVENTS_READ = 2_000
const KEYS_MAX = 200
const DAYS_READ = 90

/** The keys in the `data` of a tenant's newest events, most frequent first. */
export async function dataKeys(tenant: Tenant, now: Date): Promise<string[]> {
  const { where, parameters } = eventConditions({ date_after: new Date(now.getTime() - DAYS_READ * DAY_MS) })
  const rows = await tenant.events.select<{ key: string }>({
    name: 'events.data_keys',
    lane: 'light',
    columns: 'data',
    where,
    parameters,
    orderBy: 'timestamp DESC',
    limit: EVENTS_READ,
    outer: {
      columns: 'arrayJoin(JSONExtractKeys(data)) AS key, count() AS count',
      groupBy: 'key',
      orderBy: 'count DESC, key',
      limit: KEYS_MAX,
    },
  })
  return rows.map(({ key }) => key)
}
