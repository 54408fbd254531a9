import { describe, expect, test } from 'vitest'
import { EVENTS_TABLE } from '../../events/table.ts'
import { OWNER_LINKS_TABLE } from '../../owners/table.ts'
import type { ClickHouse } from './connect.ts'
import { createMissingTables, createTableStatements, onCluster, storageTable } from './tables.ts'

describe('a table definition renders', () => {
  test('a plain MergeTree for a single server', () => {
    const statements = createTableStatements(EVENTS_TABLE, null)
    expect(statements[0]).toMatch(/^CREATE TABLE IF NOT EXISTS events \(/)
    expect(statements).toHaveLength(1)
    expect(statements[0]).toContain('ENGINE = MergeTree()\n')
    expect(statements[0]).toContain('non_replicated_deduplication_window = 10000')
    expect(statements[0]).not.toContain('ON CLUSTER')
  })

  test('replicated storage and a distributed table over it for a cluster', () => {
    const [storage, distributed, ...more] = createTableStatements(EVENTS_TABLE, 'main')
    expect(more).toEqual([])
    expect(storage).toMatch(/^CREATE TABLE IF NOT EXISTS events_local ON CLUSTER 'main' \(/)
    expect(storage).toContain("ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/events_local', '{replica}')")
    expect(storage).toContain(' replicated_deduplication_window = 10000')
    expect(distributed).toContain("CREATE TABLE IF NOT EXISTS events ON CLUSTER 'main' AS events_local")
    expect(distributed).toContain(
      "Distributed('main', currentDatabase(), 'events_local', cityHash64(tenant_id, owner_id))",
    )
  })

  test("owner links with the sharding key of their owners' events", () => {
    const [storage, distributed] = createTableStatements(OWNER_LINKS_TABLE, 'main')
    expect(storage).toContain(
      "ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/owner_links_local', '{replica}', version)",
    )
    expect(distributed).toContain("'owner_links_local', cityHash64(tenant_id, owner_id))")
  })

  test("insertion tokens that a cluster keeps for longer than ClickHouse's default", () => {
    const [storage] = createTableStatements(EVENTS_TABLE, 'main')
    expect(storage).toContain(' replicated_deduplication_window_seconds = 2592000')
    expect(storage).not.toContain('non_replicated')
  })

  test('the table name and cluster clause for deletions', () => {
    expect([storageTable(EVENTS_TABLE, null), onCluster(null)]).toEqual(['events', ''])
    expect([storageTable(EVENTS_TABLE, 'main'), onCluster('main')]).toEqual(['events_local', " ON CLUSTER 'main'"])
  })
})

test.each([
  [['events', 'events_local'], 0],
  [['events_local'], 2],
  [['events'], 2],
  [[], 2],
])('of a table in a cluster that has %j, %i statements create what is missing', async (present, count) => {
  const sent: string[] = []
  const clickhouse = {
    query: async () => present.map((name) => ({ name, comment: '' })),
    command: async (statement: string) => void sent.push(statement),
  }
  await createMissingTables(clickhouse as unknown as ClickHouse, [EVENTS_TABLE], 'main')
  expect(sent).toEqual(createTableStatements(EVENTS_TABLE, 'main').slice(0, count))
})
