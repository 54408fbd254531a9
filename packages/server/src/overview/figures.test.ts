import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, startTestService, type TestService } from '../../test/service.ts'
import { EMPTY_RECORD, type EventRecord, JOURNAL_FORMAT, NOBODY, serializeEvents } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS } from '../platform/time.ts'

let service: TestService
let viewer: Browser
let records: EventRecord[]

const START = Date.UTC(2026, 2, 1)
const DAYS = 12
const contacts = Array.from({ length: 20 }, newId)
/** All visitors but the last two are identified. */
const episodes = Array.from({ length: 10 }, newId)
const contactOf = new Map(episodes.slice(0, -2).map((owner, n) => [owner, contacts[n % 3] ?? NOBODY]))

/** Two thirds of the events are in a merged part, the rest in fresh parts: a day's sums are in several. */
beforeAll(async () => {
  service = await startTestService()
  const { id } = await createTestTenant(service)
  viewer = await signedIn(service, id, 'viewer')
  records = Array.from({ length: 3_000 }, (_, n) => record(id, n))
  const { clickhouse } = service.stores
  const insert = async (some: EventRecord[]) =>
    clickhouse.insert('events', JOURNAL_FORMAT, serializeEvents(some), newId())
  await insert(records.slice(0, 1_000))
  await insert([
    ...records.slice(1_000, 2_000),
    ...records.slice(0, 500).map((each) => ({ ...each, tenant_id: newId() })),
  ])
  await clickhouse.command('OPTIMIZE TABLE events FINAL')
  await clickhouse.command('SYSTEM STOP MERGES events')
  await insert(records.slice(2_000, 2_500))
  await insert(records.slice(2_500))
  for (const [owner, contact] of contactOf) {
    await clickhouse.command(
      `INSERT INTO owner_links (tenant_id, owner_id, contact_id, version) VALUES ('${id}', '${owner}', '${contact}', 1)`,
    )
  }
  const parts = await clickhouse.query<{ name: string; sums: number }>(
    `SELECT name, has(projections, 'visitors') AS sums FROM system.parts
      WHERE active AND table = 'events' AND database = currentDatabase()`,
  )
  expect(parts.map(({ sums }) => Number(sums))).toEqual([1, 1, 1])
})
afterAll(() => service.close())

function record(tenant_id: string, n: number): EventRecord {
  // Some are at the very start or end of a day.
  const within = n % 50 === 0 ? 0 : n % 50 === 1 ? DAY_MS - 1 : (n * 7_919_317) % DAY_MS
  const timestamp = START + (n % DAYS) * DAY_MS + within
  const isAnonymous = n % 3 !== 0
  const anonymous = n % 5 === 0 ? NOBODY : (episodes[(n * 3) % 10] ?? NOBODY)
  return {
    ...EMPTY_RECORD,
    event_id: newId(),
    event: 'page_view',
    is_system: n % 41 === 0,
    owner_id: isAnonymous ? anonymous : (contacts[(n * n) % 20] ?? NOBODY),
    is_anonymous: isAnonymous,
    visitor_id: n % 11 === 0 ? '' : `v${(n * n) % (40 + 9 * (n % DAYS))}`,
    is_bot: n % 13 === 0,
    ...{ tenant_id, timestamp, received_at: timestamp },
  }
}

function expected(from: number, to: number) {
  const of = records.filter((each) => !each.is_bot && !each.is_system && each.timestamp >= from && each.timestamp <= to)
  const visitors = (some: EventRecord[]) => new Set(some.map((each) => each.visitor_id).filter((id) => id !== '')).size
  const owners = of.map((each) => (each.is_anonymous ? contactOf.get(each.owner_id) : each.owner_id))
  const days = new Set<string>()
  for (let day = Math.floor(from / DAY_MS) * DAY_MS; day <= to; day += DAY_MS) days.add(dayOf(day))
  return {
    events: of.length,
    visitors: visitors(of),
    identified_contacts: new Set(owners.filter((owner) => owner !== undefined)).size,
    by_day: [...days].map((date) => {
      const ofDay = of.filter((each) => dayOf(each.timestamp) === date)
      return { date, events: ofDay.length, visitors: visitors(ofDay) }
    }),
  }
}

const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10)

/** From and to, in days since the start of the events. */
test.each([
  ['whole days', 6, 12 - 1 / DAY_MS],
  ['a last day that is still running', 6, 10 + 10 / 24],
  ['one range that begins in a day', 5.5, 11 - 1 / DAY_MS],
  ['parts of days at every end', 6 + 1 / 3, 11.7],
  ['parts of days, and the range before begins at midnight', 5.5, 11 - 1 / DAY_MS],
  ['hours of one day', 7.25, 7.5],
  ['hours around a midnight', 7.9, 8.1],
  ['one day', 7, 8 - 1 / DAY_MS],
  ['one millisecond', 7, 7],
  ['the last millisecond of a day', 8 - 1 / DAY_MS, 8 - 1 / DAY_MS],
  ['more days than there are events', -3, 30],
])('%s: the figures equal those computed from the events', async (_name, first, last) => {
  const [from, to] = [Math.round(START + first * DAY_MS), Math.round(START + last * DAY_MS)]
  const query = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })
  const { status, body } = await viewer.call('GET', `/v1/overview?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body).toMatchObject(expected(from, to))
  // A running day is compared with the same part of the day.
  const back = Math.ceil((to - from + 1) / DAY_MS) * DAY_MS
  expect(body.previous).toMatchObject(expected(from - back, to - back))
})

test.each([
  ['1900-01-01', '1900-02-01'],
  ['2400-01-01', '2401-01-01'],
])("from %s to %s, beyond ClickHouse's range, has no events", async (from, to) => {
  const { status, body } = await viewer.call('GET', `/v1/overview?from=${from}&to=${to}`)
  expect(status, JSON.stringify(body)).toBe(200)
  expect([status, body.events, body.visitors, body.previous.events]).toEqual([200, 0, 0, 0])
})
