import { expect, test } from 'vitest'
import { EVENTS_TABLE } from '../src/events/table.ts'
import { UTM_COLUMNS } from '../src/journal/campaign.ts'
import { EMPTY_RECORD, serializeRows } from '../src/journal/event-record.ts'
import { addColumns, createTableStatements, earlierVersion, unknownTables } from '../src/platform/clickhouse/tables.ts'
import { newId } from '../src/platform/ids.ts'
import { createTestTenant, startTestService } from './service.ts'

const EARLIER = earlierVersion(EVENTS_TABLE)
const QUERY = '?utm_source=news&utm_medium=e%20mail&utm_campaign=%C3%BCber&utm_source=other#utm_term=x'
const CAMPAIGN = { utm_source: 'news', utm_medium: 'e mail', utm_campaign: 'über', utm_term: null, utm_content: null }
const NOWHERE = { country: null, region: null, city: null }
const NAMES = [...UTM_COLUMNS, 'country', 'region', 'city'] as const

test('the events of an earlier version have their campaigns after the upgrade, before and after their parts are merged', async () => {
  const service = await startTestService()
  const { clickhouse } = service.stores
  const tenant = await createTestTenant(service)
  try {
    const [create = ''] = createTableStatements(EARLIER, null)
    // The version before campaigns and places: whatever it created must be known for ever.
    expect(create).toContain("COMMENT 'Customer Data Service b433907a2a5e48bfc93a139214e92192'")
    await clickhouse.command('DROP TABLE events SYNC')
    await clickhouse.command(create)
    const contactId = await tenant.contact('ada@example.com')
    const insert = (event: string, url: string) => {
      const now = { timestamp: Date.now(), received_at: Date.now() }
      const owner = { owner_id: contactId, is_anonymous: false }
      const { utm_source, utm_medium, utm_campaign, utm_term, utm_content, country, region, city, ...known } =
        EMPTY_RECORD
      const row = {
        ...known,
        ...owner,
        ...now,
        tenant_id: tenant.id,
        event_id: newId(),
        event,
        url,
        data: `{"plan":"${event}"}`,
      }
      return clickhouse.insert('events', 'JSONCompactEachRowWithNames', serializeRows([row]), newId())
    }
    await insert('first', `https://shop.example/${QUERY}`)
    await insert('second', 'https://shop.example/?q=utm_source')

    expect(await unknownTables(clickhouse, [EVENTS_TABLE], null)).toEqual([])
    await addColumns(clickhouse, [EVENTS_TABLE], null)
    // A part that an older process inserts meanwhile.
    await insert('third', `https://shop.example/${QUERY}`)
    await tenant.track({ visitor_id: 'v', events: [{ event: 'fourth', url: 'https://shop.example/?utm_source=ads' }] })

    // By time, from the table itself, and by contact, from its projection.
    const read = async () => {
      const found = []
      for (const query of ['', `&contact_id=${contactId}`]) {
        const { body } = await tenant.call('GET', `/v1/events?limit=100&sort_by=event&sort_dir=asc${query}`)
        found.push(body.events.map((event: Record<string, unknown>) => [event.event, pick(event)]))
      }
      return found
    }
    const plans = async () => {
      const { body } = await tenant.call('POST', '/v1/aggregate', { entity: 'events', group_by: 'data.plan' })
      return body.buckets.flatMap(({ key }: { key: string | null }) => key ?? []).toSorted()
    }
    const old = [
      ['first', { ...CAMPAIGN, ...NOWHERE }],
      ['second', { ...NONE, ...NOWHERE }],
      ['third', { ...CAMPAIGN, ...NOWHERE }],
    ]
    const expected = [[old[0], ['fourth', { ...NONE, utm_source: 'ads', ...NOWHERE }], old[1], old[2]], old]
    expect(await read()).toEqual(expected)
    expect(await plans()).toEqual(['first', 'second', 'third'])
    const { body } = await tenant.call('POST', '/v1/aggregate', { entity: 'events', group_by: 'utm_source' })
    expect(body.buckets.slice(0, 2)).toEqual([
      { key: 'news', value: 2 },
      { key: 'ads', value: 1 },
    ])

    await clickhouse.command('OPTIMIZE TABLE events FINAL')
    const parts =
      "SELECT 1 FROM system.parts_columns WHERE database = currentDatabase() AND column = 'utm_source' AND active"
    expect(await clickhouse.query(parts)).toHaveLength(1)
    expect(await read()).toEqual(expected)
    expect(await plans()).toEqual(['first', 'second', 'third'])
    const inBuckets =
      "SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = 'events' AND engine_full LIKE '%with_buckets%'"
    expect(await clickhouse.query(inBuckets)).toHaveLength(1)
  } finally {
    await service.close()
  }
})

const NONE = { utm_source: null, utm_medium: null, utm_campaign: null, utm_term: null, utm_content: null }

function pick(event: Record<string, unknown>) {
  return Object.fromEntries(NAMES.map((name) => [name, event[name]]))
}

test('an interrupted upgrade is completed by the next start, and a finished one is not repeated', async () => {
  const service = await startTestService()
  const { clickhouse } = service.stores
  try {
    await clickhouse.command('DROP TABLE events SYNC')
    for (const statement of createTableStatements(EARLIER, null)) await clickhouse.command(statement)
    await clickhouse.command('ALTER TABLE events ADD COLUMN country LowCardinality(String)')
    await addColumns(clickhouse, [EVENTS_TABLE], null)
    const sent: string[] = []
    const watched = { ...clickhouse, command: async (statement: string) => void sent.push(statement) }
    await addColumns(watched, [EVENTS_TABLE], null)
    expect(sent).toEqual([])
    const columns =
      "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'events' ORDER BY name"
    const found = (await clickhouse.query<{ name: string }>(columns)).map(({ name }) => name)
    expect(found).toEqual(expect.arrayContaining([...NAMES]))
    // A table of anybody else is still refused.
    await clickhouse.command("ALTER TABLE events MODIFY COMMENT 'Customer Data Service of last week'")
    expect(await unknownTables(clickhouse, [EVENTS_TABLE], null)).toEqual(['events'])
  } finally {
    await service.close()
  }
})

test('in a cluster, the storage gets the columns before the table over it', async () => {
  const sent: string[] = []
  const comments = createTableStatements(EARLIER, 'main').map((statement, index) => ({
    name: index === 0 ? 'events_local' : 'events',
    comment: /COMMENT '(.*)'$/.exec(statement)?.[1] ?? '',
  }))
  const clickhouse = { query: async () => comments, command: async (statement: string) => void sent.push(statement) }
  await addColumns(clickhouse as unknown as Parameters<typeof addColumns>[0], [EVENTS_TABLE], 'main')
  expect(sent.map((statement) => statement.split(' ').slice(0, 6).join(' '))).toEqual([
    "ALTER TABLE events_local ON CLUSTER 'main'",
    "ALTER TABLE events_local ON CLUSTER 'main'",
    "ALTER TABLE events_local ON CLUSTER 'main'",
    "ALTER TABLE events ON CLUSTER 'main'",
    "ALTER TABLE events ON CLUSTER 'main'",
  ])
  expect(sent[0]).toContain('ADD COLUMN IF NOT EXISTS utm_source LowCardinality(String) DEFAULT ')
  expect(sent[1]).toContain("MODIFY SETTING map_serialization_version = 'with_buckets', ")
  expect(sent[2]).toMatch(/MODIFY COMMENT 'Customer Data Service [0-9a-f]{32}'$/)
})
