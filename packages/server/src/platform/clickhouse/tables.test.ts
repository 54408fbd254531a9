import { describe, expect, test } from 'vitest'
import { EVENTS_TABLE } from '../../events/table.ts'
import { createTableStatements, onCluster, storageTable } from './tables.ts'

describe('the one definition of a table renders', () => {
  test('a plain MergeTree for a single server', () => {
    const statements = createTableStatements(EVENTS_TABLE, null)
    expect(statements[0]).toMatch(/^CREATE TABLE IF NOT EXISTS events \(/)
    expect(statements[0]).toContain('  origin_mismatch Bool\n')
    expect(statements.slice(1)).toEqual(['ALTER TABLE events ADD COLUMN IF NOT EXISTS origin_mismatch Bool'])
    expect(statements[0]).toContain('ENGINE = MergeTree()\n')
    expect(statements[0]).toContain('non_replicated_deduplication_window = 10000')
    expect(statements[0]).not.toContain('ON CLUSTER')
  })

  test('replicated storage and a distributed table over it for a cluster', () => {
    const [storage, added, distributed, ...more] = createTableStatements(EVENTS_TABLE, 'main')
    expect([added, ...more]).toEqual([
      "ALTER TABLE events_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS origin_mismatch Bool",
      "ALTER TABLE events ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS origin_mismatch Bool",
    ])
    expect(storage).toMatch(/^CREATE TABLE IF NOT EXISTS events_local ON CLUSTER 'main' \(/)
    expect(storage).toContain("ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/events_local', '{replica}')")
    expect(storage).toContain(' replicated_deduplication_window = 10000')
    expect(distributed).toContain("CREATE TABLE IF NOT EXISTS events ON CLUSTER 'main' AS events_local")
    expect(distributed).toContain(
      "Distributed('main', currentDatabase(), 'events_local', cityHash64(tenant_id, visitor_id))",
    )
  })

  test('and names where updates must go', () => {
    expect([storageTable(EVENTS_TABLE, null), onCluster(null)]).toEqual(['events', ''])
    expect([storageTable(EVENTS_TABLE, 'main'), onCluster('main')]).toEqual(['events_local', " ON CLUSTER 'main'"])
  })
})
