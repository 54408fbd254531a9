import { SEQUENCE_COLUMN } from '../platform/clickhouse/sequence.ts'
import type { TableDefinition } from '../platform/clickhouse/tables.ts'

/** A tenant's events are spread over all shards; those of one owner, and its link, are on one. */
export const SHARDING_KEY = 'cityHash64(tenant_id, owner_id)'

/**
 * The contacts of events' owners, for queries of events: a copy of PostgreSQL's table of the same name. The highest version
 * of a row counts.
 */
export const OWNER_LINKS_TABLE: TableDefinition = {
  name: 'owner_links',
  elements: ['tenant_id UUID', 'owner_id UUID', 'contact_id UUID', 'version UInt32', SEQUENCE_COLUMN],
  orderBy: '(tenant_id, owner_id)',
  latestBy: 'version',
  shardingKey: SHARDING_KEY,
  settings: { non_replicated_deduplication_window: 10_000, fsync_after_insert: 1, fsync_part_directory: 1 },
}
