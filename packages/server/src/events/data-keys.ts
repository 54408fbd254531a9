import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { eventConditions } from './conditions.ts'

const EVENTS_READ = 2_000
const KEYS_MAX = 200
const DAYS_READ = 90

/** A property, or a field of events, with some of its values. */
export interface SampledProperty {
  name: string
  /** How many records or events have it. */
  records: number
  /** How many different values these have. */
  differentValues: number
  /** Values of the newest, as texts without their ends. */
  values: string[]
}

/** Enough to see what most values of a property are. */
export const VALUES_SAMPLED = 20
export const VALUE_LENGTH_MAX = 200

/** The fields in the `data` of a tenant's newest events, most frequent first, with some of their texts. */
export async function sampleDataKeys(tenant: Tenant, now: Date): Promise<SampledProperty[]> {
  const { where, parameters } = eventConditions({ date_after: new Date(now.getTime() - DAYS_READ * DAY_MS) })
  const rows = await tenant.events.select<{ name: string; records: number; different: number; values: string[] }>({
    name: 'events.data_samples',
    lane: 'light',
    columns: 'data',
    where,
    parameters,
    orderBy: 'timestamp DESC',
    limit: EVENTS_READ,
    outer: {
      columns: `(arrayJoin(JSONExtractKeysAndValues(data, 'String')) AS pair).1 AS name, toUInt32(count()) AS records,
        toUInt32(uniqExact(pair.2)) AS different,
        groupArray(${VALUES_SAMPLED})(substringUTF8(pair.2, 1, ${VALUE_LENGTH_MAX})) AS values`,
      groupBy: 'name',
      orderBy: 'records DESC, name',
      limit: KEYS_MAX,
    },
  })
  return rows.map(({ different, ...row }) => ({ ...row, differentValues: different }))
}
