import type { Tenant } from '../platform/tenant.ts'
import { conditionsOf } from './conditions.ts'
import type { EventFilters } from './filters.ts'
import { rollupConditions } from './rollups.ts'

/** The columns that statistics can be grouped by. */
export const STATISTICS = ['type', 'domain', 'day'] as const
type Statistic = (typeof STATISTICS)[number]

const ENTRIES_MAX = { type: 50, domain: 50, day: 90 }
const COLUMNS = { type: 'event', domain: 'domain', day: 'toDate(timestamp)' }

export interface EventStatistics {
  total: number
  by_type?: { type: string; count: number }[]
  by_domain?: { domain: string; count: number }[]
  by_day?: { date: string; count: number }[]
}

interface Row {
  statistic: Statistic
  key: string
  count: number
  total: number
}

/** Counts events for each of the requested statistics, in one pass. */
export async function eventStatistics(
  tenant: Tenant,
  filters: EventFilters,
  requested: readonly Statistic[],
): Promise<EventStatistics> {
  const grouped = requested.map((statistic) => COLUMNS[statistic])
  const rollup = rollupConditions(filters, grouped)
  const { where, parameters } = rollup ?? (await conditionsOf(tenant, filters))
  // Rows of one grouping have the other columns' defaults, so grouping() says which one a row belongs to.
  const statisticOf = requested.map((statistic) => `grouping(${statistic}) = 0, '${statistic}'`)
  const keyOf = requested.map((statistic) => `grouping(${statistic}) = 0, toString(${statistic})`)
  const rows = await tenant.events.select<Row>({
    name: 'events.stats',
    lane: rollup ? 'light' : 'heavy',
    isRollup: rollup !== null,
    columns: `${requested.map((statistic) => `${COLUMNS[statistic]} AS ${statistic}`).join(', ')}, count() AS events`,
    where,
    parameters,
    groupBy: requested.join(', '),
    outer: {
      columns: `multiIf(${statisticOf.join(', ')}, '') AS statistic, multiIf(${keyOf.join(', ')}, '') AS key,
        sum(events) AS count, sum(count) OVER (PARTITION BY statistic) AS total`,
      groupBy: `GROUPING SETS (${requested.map((statistic) => `(${statistic})`).join(', ')})`,
      // The most recent days; the other lists by count. Events without a domain have no entry, but count in the total.
      orderBy: `statistic, statistic = 'domain' AND key = '', if(statistic = 'day', key, '') DESC, count DESC, key`,
      limitBy: { rows: Math.max(...requested.map((statistic) => ENTRIES_MAX[statistic])), columns: 'statistic' },
    },
  })
  const list = <Entry>(statistic: Statistic, toEntry: (row: Row) => Entry) =>
    rows
      .filter((row) => row.statistic === statistic && row.key !== '')
      .slice(0, ENTRIES_MAX[statistic])
      .map(toEntry)
  return {
    total: Number(rows[0]?.total ?? 0),
    ...(requested.includes('type')
      ? { by_type: list('type', ({ key, count }) => ({ type: key, count: Number(count) })) }
      : {}),
    ...(requested.includes('domain')
      ? { by_domain: list('domain', ({ key, count }) => ({ domain: key, count: Number(count) })) }
      : {}),
    ...(requested.includes('day')
      ? { by_day: list('day', ({ key, count }) => ({ date: key, count: Number(count) })).reverse() }
      : {}),
  }
}
