import { UTM_COLUMNS } from '../journal/campaign.ts'
import { EVENT_COLUMNS } from '../journal/event-record.ts'
import { SHARDING_KEY } from '../owners/table.ts'
import { DATA_VALUES_COLUMN, DATA_VALUES_SETTINGS } from '../platform/clickhouse/data-values.ts'
import { SEQUENCE_COLUMN } from '../platform/clickhouse/sequence.ts'
import type { TableDefinition } from '../platform/clickhouse/tables.ts'

/** The number of distinct visitors, as a mergeable state. Events without a visitor do not count. */
export const VISITORS_STATE = "uniqState(nullIf(visitor_id, ''))"

/**
 * The aggregates of the rollups besides event counts, by day. A query must spell an expression exactly like its rollup,
 * or ClickHouse does not recognize it.
 */
export const ROLLUPS = {
  by_day: { columns: ['event', 'domain'], figures: 'count()' },
  devices: { columns: ['browser', 'os', 'device_type'], figures: 'count()' },
  visitors: { columns: [], figures: `count(), ${VISITORS_STATE}` },
} as const

function rollupProjection([name, { columns, figures }]: [string, (typeof ROLLUPS)[keyof typeof ROLLUPS]]): string {
  const keys = ['tenant_id', 'is_system', 'toDate(timestamp)', 'is_bot', ...columns].join(', ')
  // A visitor state has kilobytes, so a query for some days should not read those of years.
  const granules = name === 'visitors' ? ' WITH SETTINGS (index_granularity = 32)' : ''
  return `PROJECTION ${name} (SELECT ${keys}, ${figures} GROUP BY ${keys})${granules}`
}

/**
 * Events with the same timestamp are sorted by their ids as text; ClickHouse itself compares a UUID's second half
 * first.
 */
export const EVENT_ID_ORDER = 'toUInt128(event_id)'

/**
 * Every event of every tenant, never rewritten. Sorted by time, so that a tenant's list, newest first, is read in order
 * and its total comes from the index. One projection has the same rows by owner; others sum events by day. Without
 * partitions, a merged table has a few parts instead of one a month, and each part costs every read. Measurements:
 * docs/decisions/0002-events-table.md.
 */
export const EVENTS_TABLE: TableDefinition = {
  name: 'events',
  elements: [
    ...Object.entries(EVENT_COLUMNS).map(([name, type]) => `${name} ${type}`),
    DATA_VALUES_COLUMN,
    SEQUENCE_COLUMN,
    'INDEX by_sequence sequence TYPE minmax GRANULARITY 8',
    'INDEX by_event event_id TYPE bloom_filter(0.001) GRANULARITY 8',
    'INDEX by_visitor visitor_id TYPE bloom_filter(0.01) GRANULARITY 8',
    'INDEX by_session session_id TYPE bloom_filter(0.01) GRANULARITY 8',
    // All columns in one file, and small granules: an owner has few events, and opening columns is most of their cost.
    // `*` leaves out `data_values`, which would double the projection's share of `data`.
    `PROJECTION by_owner (SELECT * ORDER BY tenant_id, owner_id, timestamp, ${EVENT_ID_ORDER})
    WITH SETTINGS (index_granularity = 512, min_bytes_for_wide_part = 1000000000000)`,
    'PROJECTION names (SELECT tenant_id, is_system, event, count() GROUP BY tenant_id, is_system, event)',
    ...Object.entries(ROLLUPS).map(rollupProjection),
  ],
  added: [...UTM_COLUMNS, 'country', 'region', 'city', 'data_values'],
  addedSettings: DATA_VALUES_SETTINGS,
  orderBy: `(tenant_id, is_system, timestamp, ${EVENT_ID_ORDER})`,
  shardingKey: SHARDING_KEY,
  settings: {
    index_granularity: 1_024,
    // Parts are merged only with parts that have the same projections: those without would be left over between merged ones.
    materialize_projections_on_insert: 1,
    non_replicated_deduplication_window: 10_000,
    // An inserted event is deleted from the journal, so it must be on disk here, in a part with its final name.
    fsync_after_insert: 1,
    fsync_part_directory: 1,
    // Merging more parts at a time halves the cost of merging, at the price of a few more parts to read.
    merge_selector_base: 20,
  },
}
