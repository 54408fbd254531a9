import type { TableDefinition } from '../platform/clickhouse/tables.ts'

/**
 * Sets of contacts, copied from PostgreSQL for questions about their events. A set is used for an hour at most, and by the
 * question that it was copied for. All of it is on one shard, so that an insertion is one block.
 */
export const CONTACT_SETS_TABLE: TableDefinition = {
  name: 'contact_sets',
  elements: [
    'tenant_id UUID',
    'set_id UUID',
    'contact_id UUID',
    // The JSON of a value of the contact, or of one item of it. Sets without values have empty texts.
    'value String',
    'created_at DateTime DEFAULT now()',
  ],
  orderBy: '(tenant_id, set_id, contact_id)',
  shardingKey: 'cityHash64(tenant_id, set_id)',
  expiresAt: 'created_at + INTERVAL 90 MINUTE',
  settings: { merge_with_ttl_timeout: 900 },
}
