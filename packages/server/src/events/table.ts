import type { TableDefinition } from '../platform/clickhouse/tables.ts'

/** Events at the same moment are in the order of their ids as texts; ClickHouse itself compares a UUID's second half first. */
export const EVENT_ID_ORDER = 'toUInt128(event_id)'

/**
 * Every event of every tenant. Sorted so that a tenant's list, newest first, is read in order and its total comes from
 * the index; partitioned by receipt, because callers choose `timestamp` and could touch hundreds of partitions.
 */
export const EVENTS_TABLE: TableDefinition = {
  name: 'events',
  elements: [
    'tenant_id UUID',
    'event_id UUID',
    'event LowCardinality(String)',
    'is_system Bool',
    "timestamp DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
    "received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
    'visitor_id String CODEC(ZSTD(1))',
    'session_id String CODEC(ZSTD(1))',
    'owner_id UUID CODEC(ZSTD(1))',
    'is_anonymous Bool',
    'url String CODEC(ZSTD(1))',
    'url_path String CODEC(ZSTD(1))',
    'domain LowCardinality(String)',
    'title String CODEC(ZSTD(1))',
    'text String CODEC(ZSTD(1))',
    'class String CODEC(ZSTD(1))',
    'element_id String CODEC(ZSTD(1))',
    'element_type LowCardinality(String)',
    'referrer String CODEC(ZSTD(1))',
    'referring_domain LowCardinality(String)',
    'browser LowCardinality(String)',
    'os LowCardinality(String)',
    'device_type LowCardinality(String)',
    'is_bot Bool',
    'screen LowCardinality(String)',
    'language LowCardinality(String)',
    'timezone LowCardinality(String)',
    'analytics_user_id String CODEC(ZSTD(1))',
    'user_agent String CODEC(ZSTD(1))',
    'data String CODEC(ZSTD(1))',
    // Rows are sorted by time; these skip most of them when one owner, visitor or event is asked for.
    'INDEX by_owner owner_id TYPE bloom_filter(0.01) GRANULARITY 4',
    'INDEX by_visitor visitor_id TYPE bloom_filter(0.01) GRANULARITY 4',
    'INDEX by_event event_id TYPE bloom_filter(0.01) GRANULARITY 4',
  ],
  addedColumns: ['origin_mismatch Bool'],
  partitionBy: 'toYYYYMM(received_at)',
  orderBy: `(tenant_id, is_system, timestamp, ${EVENT_ID_ORDER})`,
  shardingKey: 'cityHash64(tenant_id, visitor_id)',
  settings: {
    non_replicated_deduplication_window: 10_000,
    // An acknowledged event leaves the journal, so it must be on the disk here.
    fsync_after_insert: 1,
    // Inserts are frequent and small. Merging more parts at a time halves what merging costs, for some more parts to read.
    merge_selector_base: 20,
  },
}

/** Who the owners of events have become: the copy of PostgreSQL's table. The highest version of a row counts. */
export const OWNER_LINKS_TABLE: TableDefinition = {
  name: 'owner_links',
  elements: ['tenant_id UUID', 'owner_id UUID', 'contact_id UUID', 'version UInt32'],
  orderBy: '(tenant_id, owner_id)',
  latestBy: 'version',
  isEverywhere: true,
  settings: { non_replicated_deduplication_window: 10_000, fsync_after_insert: 1 },
}
