import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService } from '../../test/service.ts'
import { summarizeEvents } from '../agents/reasoning/events-summary.ts'
import { EVENT_DIMENSIONS } from '../aggregate/event-dimensions.ts'
import { aggregateEvents } from '../aggregate/events.ts'
import { people } from '../companies/people.ts'
import { dataText } from '../conditions/event-property.ts'
import { readContactEvents } from '../contacts/contact-events.ts'
import { readFigures } from '../overview/figures.ts'
import { suggestValues } from '../overview/suggestions.ts'
import type { QueryBounds } from '../platform/clickhouse/connect.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { isOwnedBy } from '../platform/clickhouse/tenant-events.ts'
import { rangeBefore } from '../platform/http/days.ts'
import { newId } from '../platform/ids.ts'
import { openTenant, type Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { queryEvents } from '../segments/events.ts'
import { eventRows } from '../tenant-export/rows.ts'
import { activityOfContacts } from './activity.ts'
import { sampleDataKeys } from './data-keys.ts'
import { findDataProperties } from './data-properties.ts'
import { firstAndLastEvent } from './first-and-last.ts'
import { countEvents, listEventSummaries, listEvents } from './list.ts'
import { compactEventsOfContact } from './of-contact.ts'
import { eventPages } from './pages.ts'
import { knownEventIds, listEventTypes, readEvent } from './read.ts'
import { eventStatistics } from './stats.ts'
import { listTimeline, listVisits } from './visits.ts'

let service: TestService
let tenant: Tenant

const START = Date.UTC(2026, 0, 1)
/** One every 36 minutes, of 1,000 owners, for 500 days. Each visitor has nine in a row, in two sessions. */
const MERGED = 20_000
const FRESH = 100
/** Granules of 1,024 rows; by owner of 512. Those of the fresh parts are always read, because they are tiny. */
const ALL = Math.ceil(MERGED / 1_024) + 3
const FRESH_PARTS = 2
const contacts = ['00000000-0000-7000-8000-000000000007', '00000000-0000-7000-8000-000000000009']
const contact_id = contacts[0] ?? ''
/** Ids of events all over the table: of ids that no event has, the index of ids may exclude all or none of it by chance. */
const SENT_IDS = Array.from({ length: 500 }, (_, n) => `00000000-0000-4000-8000-${String(n * 40).padStart(12, '0')}`)
const day = (days: number) => new Date(START + days * DAY_MS)
const newest = { sortBy: 'timestamp', direction: 'desc' } as const
const page = { page: 1, limit: 20 }

/** What ClickHouse reads for one query: the granules of the table itself and of each projection. */
interface Plan {
  name: string
  granules: Record<string, number>
}

let queries: { sql: string; parameters: QueryParameters; bounds: QueryBounds }[] = []

beforeAll(async () => {
  service = await startTestService()
  const { id } = await createTestTenant(service)
  const { clickhouse } = service.stores
  await fill(id, 0, MERGED)
  await fill(newId(), 0, MERGED)
  await clickhouse.command('OPTIMIZE TABLE events FINAL')
  await clickhouse.command('SYSTEM STOP MERGES events')
  for (let part = 0; part < FRESH_PARTS; part++) await fill(id, MERGED + part * FRESH, FRESH)
  tenant = openTenant({ ...service.stores, clickhouse: recorded(clickhouse) }, id)
})
afterAll(() => service.close())

/** Records the queries, with all settings. */
function recorded({ query, ...others }: TestService['stores']['clickhouse']): TestService['stores']['clickhouse'] {
  return {
    ...others,
    query: (sql, parameters = {}, bounds = {}) => {
      queries.push({ sql, parameters, bounds })
      return query(sql, parameters, bounds)
    },
  }
}

function fill(tenantId: string, from: number, rows: number): Promise<void> {
  return service.stores.clickhouse.command(`INSERT INTO events (tenant_id, event_id, event, timestamp, received_at, owner_id,
      is_anonymous, is_system, visitor_id, session_id, url, url_path, domain, data)
    WITH ${START} + number * 2160000 AS ms, lower(hex(toUInt64(ms))) AS digits,
      concat(substring(digits, -12, 8), '-', substring(digits, -4), '-7000') AS timed_id
    SELECT '${tenantId}', toUUID(concat(if(number % 2 = 0, '00000000-0000-4000', timed_id), '-8000-', leftPad(toString(number), 12, '0'))), ['page_view', 'click', 'signup'][1 + number % 3],
      fromUnixTimestamp64Milli(toInt64(ms), 'UTC') AS timestamp, timestamp,
      toUUID(concat('00000000-0000-7000-8000-', leftPad(toString(sipHash64(number) % 1000), 12, '0'))),
      number % 4 = 0, number % 10 = 0, if(number % 10 = 0, '', toString(intDiv(number, 10))), toString(intDiv(number, 5)),
      concat('https://example.com/', toString(number % 100)), concat('/', toString(number % 100)), 'example.com', '{"a":1}'
    FROM numbers(${from}, ${rows})`)
}

/** Explains each query of `work`. */
async function plansOf(work: (tenant: Tenant) => Promise<unknown>): Promise<Plan[]> {
  queries = []
  await work(tenant)
  return Promise.all(
    queries.map(async ({ sql, parameters, bounds }) => {
      const explained = `EXPLAIN indexes = 1, projections = 1 ${sql}`
      const lines = await service.stores.clickhouse.query<{ explain: string }>(explained, parameters, bounds)
      return { name: /^\/\* (\S+)/.exec(sql)?.[1] ?? '', granules: granulesIn(lines.map(({ explain }) => explain)) }
    }),
  )
}

/**
 * How many rows of events `work` reads. If a projection serves the merged parts, EXPLAIN still counts the table's
 * granules of those.
 */
async function rowsRead(work: () => Promise<unknown>): Promise<number> {
  const selected = async () => {
    const events = "SELECT toUInt32(value) AS value FROM system.events WHERE event = 'SelectedRows'"
    const [row] = await service.stores.clickhouse.query<{ value: number }>(events)
    return row?.value ?? 0
  }
  const before = await selected()
  await work()
  return (await selected()) - before
}

/** The last granule count of each read is what its indexes leave. */
function granulesIn(lines: readonly string[]): Record<string, number> {
  const granules: Record<string, number> = {}
  const readings: { source: string; read: number }[] = []
  for (const line of lines) {
    const source = /ReadFromMergeTree \((?:.*\.)?(\w+)\)/.exec(line)?.[1]
    if (source) readings.push({ source, read: 0 })
    const read = /^[\s│]*Granules: (\d+)(?:\/\d+)?$/.exec(line)?.[1]
    const last = readings.at(-1)
    if (read && last) last.read = Number(read)
  }
  for (const { source, read } of readings) granules[source] = (granules[source] ?? 0) + read
  return granules
}

/** How often each value of a property is there, of all or of some contacts. */
function propertyOf(contactIds?: string[]): Promise<unknown> {
  const { sql, parameters } = dataText(['a'], 'property')
  return tenant.events.select({
    name: 'test.property',
    lane: 'light',
    columns: `${sql} AS value, count() AS count`,
    where: ['is_system IN (0, 1)', ...(contactIds ? [isOwnedBy('owners')] : [])],
    parameters: { ...parameters, ...(contactIds ? { owners: contactIds } : {}) },
    groupBy: 'value',
  })
}

/** An owner's events take a granule or two, plus the fresh parts. */
const OF_OWNERS_MAX = 2 * contacts.length * 512 + FRESH_PARTS * FRESH
const COUNT = { metric: 'count', field: '' } as const
const dayRange = { date_after: day(5), date_before: new Date(day(9).getTime() - 1) }

test.each<[string, () => Promise<unknown>]>([
  ['a list', () => listEvents(tenant, { contact_id }, newest, page)],
  ['a filtered list', () => listEvents(tenant, { contact_id, event_type: 'click', date_after: day(20) }, newest, page)],
  ['a searched list', () => listEvents(tenant, { contact_id, search: 'page example', is_bot: false }, newest, page)],
  ['a compact list', () => listEventSummaries(tenant, { contact_id }, newest, page)],
  ['everything', () => readContactEvents(tenant, contact_id, {}, 'asc')],
  ['the latest events', () => compactEventsOfContact(tenant, contact_id, 5)],
  ['activity', () => activityOfContacts(tenant, contacts, {}, 5)],
  ["an agent's summary", () => summarizeEvents(tenant, contacts)],
  ['an export', () => Array.fromAsync(eventPages(tenant, { contact_id }))],
  ['a property in data', () => propertyOf(contacts)],
  ['a look-up of 500 ids', () => knownEventIds(tenant, SENT_IDS, { contactIds: contacts })],
])('%s of contacts is read from the projection by owner', async (_name, work) => {
  const plans = await plansOf(work)
  expect(plans).not.toEqual([])
  for (const { granules } of plans) {
    expect(granules.by_owner).toBeGreaterThan(0)
    expect(granules.by_owner).toBeLessThanOrEqual(2 * contacts.length)
  }
})

test.each<[string, () => Promise<unknown>]>([
  ['a count', () => countEvents(tenant, { contact_id, event_type: 'click' })],
  ['statistics', () => eventStatistics(tenant, { contact_id }, ['type', 'day', 'domain'])],
  ['groups', () => aggregateEvents(tenant, { contact_ids: contacts }, EVENT_DIMENSIONS.url_path, COUNT, 5)],
  [
    "a segment's questions",
    () =>
      queryEvents(
        tenant,
        [{ type: 'click', within_days: 9 }, { url_contains: 'x' }],
        { contactIds: contacts },
        day(300),
      ),
  ],
])("%s of contacts' events reads only theirs and unmerged parts", async (_name, work) => {
  const plans = await plansOf(work)
  expect(plans.map(({ granules }) => granules.by_owner)).toEqual([expect.any(Number)])
  expect(await rowsRead(work)).toBeLessThanOrEqual(OF_OWNERS_MAX)
})

const ofDays = { event_types: ['click'], ...dayRange }
const months = { from: day(400), to: new Date(day(428).getTime() + DAY_MS / 3) }
test.each<[string, string, number, () => Promise<unknown>]>([
  ['event names', 'names', 500, () => listEventTypes(tenant, false, { page: 1, limit: 5 })],
  ['a count of all', 'names', 500, () => countEvents(tenant, {})],
  ['a count of a type', 'names', 500, () => countEvents(tenant, { event_type: 'click' })],
  ['a count of types in some days', 'by_day', 1_300, () => countEvents(tenant, ofDays)],
  ['a count of a browser', 'devices', 2_500, () => countEvents(tenant, { browser: 'x' })],
  ['statistics', 'by_day', 5_000, () => eventStatistics(tenant, {}, ['type', 'day', 'domain'])],
  ['statistics of days', 'by_day', 1_300, () => eventStatistics(tenant, dayRange, ['type', 'day', 'domain'])],
  [
    'types of people',
    'by_day',
    5_000,
    () => aggregateEvents(tenant, { is_bot: false }, EVENT_DIMENSIONS.event_type, COUNT, 5),
  ],
  ['browsers', 'devices', 2_500, () => aggregateEvents(tenant, {}, EVENT_DIMENSIONS.browser, COUNT, 5)],
  [
    'device types of an operating system',
    'devices',
    2_500,
    () => aggregateEvents(tenant, { os: 'x' }, EVENT_DIMENSIONS.device_type, COUNT, 5),
  ],
  ['weeks', 'devices', 2_500, () => aggregateEvents(tenant, {}, EVENT_DIMENSIONS.week, COUNT, 5)],
  ['months', 'devices', 2_500, () => aggregateEvents(tenant, {}, EVENT_DIMENSIONS.month, COUNT, 5)],
  // Two days are read from the events: the running one, and the same part of one before the range.
  ["the home page's figures", 'visitors', 3_500, () => readFigures(tenant, months, rangeBefore(months))],
])('%s come from %s', async (_name, projection, rowsMax, work) => {
  const plans = await plansOf(work)
  expect(plans.map(({ granules }) => granules[projection])).toEqual([expect.any(Number)])
  expect(await rowsRead(work)).toBeLessThanOrEqual(rowsMax)
})

/**
 * Each bloom filter covers eight granules. The ids below are of events amid the tenant's: a filter at their ends also covers
 * the other tenant's, which have the same ids.
 */
const OF_A_BLOOM = 8 + FRESH_PARTS

/** The id of an event, generated at the time of the event, as every second one is. */
function timedId(n: number): string {
  const digits = (START + n * 2_160_000).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-${String(n).padStart(12, '0')}`
}

/** ClickHouse would choose a whole projection, out of order, as soon as it has one granule less than the table. */
test.each<[string, number, () => Promise<unknown>]>([
  ['the newest', ALL, () => listEvents(tenant, {}, newest, page)],
  ['those of a day', 2, () => listEvents(tenant, { date_after: day(5), date_before: day(6) }, newest, page)],
  ['those of a visitor', OF_A_BLOOM, () => listEvents(tenant, { visitor_id: '1000' }, newest, page)],
  ["a visitor's count", OF_A_BLOOM, () => countEvents(tenant, { visitor_id: '1000' })],
  ['those of a session', OF_A_BLOOM, () => listEvents(tenant, { session_id: '2001' }, newest, page)],
  ['those with a text', ALL, () => listEvents(tenant, { url_contains: '/77' }, newest, page)],
  ['a search', ALL, () => listEvents(tenant, { search: 'page 77' }, newest, page)],
  [
    'statistics of a part of a day',
    2,
    () => eventStatistics(tenant, { date_after: day(5.5), date_before: day(6) }, ['type']),
  ],
  ['pages', ALL, () => aggregateEvents(tenant, {}, EVENT_DIMENSIONS.url_path, COUNT, 5)],
  ['one by a random id', OF_A_BLOOM, () => readEvent(tenant, people, '00000000-0000-4000-8000-000000010006')],
  ['one by an id with a time', 2, () => readEvent(tenant, people, timedId(77))],
  ['the properties in data', 2 * ALL, () => findDataProperties(tenant, { limit: 9 })],
  ['samples of data', 9, () => sampleDataKeys(tenant, day(480))],
  ['a property in data', ALL, () => propertyOf()],
  ['the first and the last', ALL, () => firstAndLastEvent(tenant)],
  ['a page of an export', 2, () => Array.fromAsync(eventPages(tenant, { date_after: day(5), date_before: day(6) }))],
  ["the tenant's whole export", ALL, () => Array.fromAsync(eventRows(tenant))],
  ['what is typed', ALL, () => suggestValues(tenant, 'event.url_contains', '7', 5, day(480))],
])('%s: the table itself is read, and no projection', async (_name, granulesMax, work) => {
  const plans = await plansOf(work)
  expect(plans).not.toEqual([])
  // Which of the two is smaller depends on the size of the table, so ClickHouse must not choose.
  expect(queries.map(({ bounds }) => bounds.usesProjections)).not.toContain(true)
  for (const { granules } of plans) {
    expect(Object.keys(granules)).toEqual(['events'])
    // The events exist. An index may exclude an id that no event has, by chance.
    expect(granules.events).toBeGreaterThan(0)
    expect(granules.events).toBeLessThanOrEqual(granulesMax)
  }
})

test("a contact's visits are read from the projection by owner", async () => {
  for (const list of [listVisits, listTimeline]) {
    for (const { granules } of await plansOf(() => list(tenant, people, { contact_id }, page, day(500)))) {
      expect(granules.by_owner).toBeGreaterThan(0)
      expect(granules.by_owner).toBeLessThanOrEqual(2 * contacts.length)
    }
  }
})

test("the tenant's visits are read for some days only, and those of a page for their time only", async () => {
  const plans = await plansOf(() => listVisits(tenant, people, {}, page, day(450)))
  expect(plans).toMatchObject([{ name: 'events.visits' }, { name: 'events.visit_figures' }])
  const [ofAll, ofPage] = plans.map(({ granules }) => granules.events ?? 0)
  expect(ofAll).toBeLessThanOrEqual(Math.ceil((79 * 40) / 1_024) + FRESH_PARTS + 1)
  expect(ofPage).toBeLessThanOrEqual(2 + FRESH_PARTS)
})

// The last test, because it merges the fresh parts that the others read.
test('parts that are written after a merge can be merged with what it wrote', async () => {
  const { clickhouse } = service.stores
  await clickhouse.command('SYSTEM START MERGES events')
  await clickhouse.command('OPTIMIZE TABLE events FINAL SETTINGS optimize_throw_if_noop = 1')
  const parts = await clickhouse.query(
    "SELECT name FROM system.parts WHERE active AND database = currentDatabase() AND table = 'events'",
  )
  expect(parts).toHaveLength(1)
})
