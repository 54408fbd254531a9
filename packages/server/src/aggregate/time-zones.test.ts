import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { isoWeek, localDay, localHour, localTime } from '../../test/aggregation.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { EMPTY_RECORD, JOURNAL_FORMAT, serializeEvents } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS, MINUTE_MS } from '../platform/time.ts'
import { offsetsBetween } from '../platform/time-zone.ts'

let service: TestService
let tenant: TestTenant
let moments: number[]

/** Days on which clocks change, with an event every 10 minutes around them, and a day beyond every zone's end of a year. */
const CHANGES = ['2026-03-29', '2026-10-25', '2026-04-05', '2026-10-04', '2026-03-08', '2026-11-01', '2027-01-01']
const STEP_MS = 10 * MINUTE_MS

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  moments = CHANGES.flatMap((day) =>
    Array.from({ length: (4 * DAY_MS) / STEP_MS }, (_, index) => Date.parse(day) - 2 * DAY_MS + index * STEP_MS),
  )
  const events = moments.map((timestamp) => ({
    ...EMPTY_RECORD,
    ...{ tenant_id: tenant.id, event_id: newId(), event: 'tick', timestamp, received_at: timestamp },
  }))
  await service.stores.clickhouse.insert('events', JOURNAL_FORMAT, serializeEvents(events), newId())
})

const aggregate = (body: object, of = tenant) => of.call('POST', '/v1/aggregate', { entity: 'events', ...body })

interface Bucket {
  key: string
  value: number
}

/** The counts of a day's hours, in the order of time. */
async function hoursOf(day: string, time_zone: string): Promise<[string, number][]> {
  const filters = { date_after: day, date_before: day }
  const { status, body } = await aggregate({ group_by: 'hour', time_zone, limit: 50, filters })
  expect([status, body.error]).toEqual([200, undefined])
  return body.buckets.map(({ key, value }: Bucket) => [key, value])
}

test('a day in spring has 23 hours', async () => {
  const hours = await hoursOf('2026-03-29', 'Europe/Berlin')
  expect(hours).toHaveLength(23)
  expect(hours.slice(0, 3)).toEqual([
    ['2026-03-29T00:00+01:00', 6],
    ['2026-03-29T01:00+01:00', 6],
    ['2026-03-29T03:00+02:00', 6],
  ])
})

test('a day in autumn has 25 hours: the one that clocks repeat is two', async () => {
  const hours = await hoursOf('2026-10-25', 'Europe/Berlin')
  expect(hours).toHaveLength(25)
  expect(hours.slice(1, 4)).toEqual([
    ['2026-10-25T01:00+02:00', 6],
    ['2026-10-25T02:00+02:00', 6],
    ['2026-10-25T02:00+01:00', 6],
  ])
})

test('a day of Lord Howe Island is half an hour longer or shorter', async () => {
  const autumn = await hoursOf('2026-04-05', 'Australia/Lord_Howe')
  expect(autumn.slice(0, 4)).toEqual([
    ['2026-04-05T00:00+11:00', 6],
    ['2026-04-05T01:00+11:00', 6],
    ['2026-04-05T01:00+10:30', 3],
    ['2026-04-05T02:00+10:30', 6],
  ])
  const spring = await hoursOf('2026-10-04', 'Australia/Lord_Howe')
  expect(spring.slice(1, 4)).toEqual([
    ['2026-10-04T01:00+10:30', 6],
    ['2026-10-04T02:00+11:00', 3],
    ['2026-10-04T03:00+11:00', 6],
  ])
})

const PERIODS: Record<string, (moment: number, zone: string) => string> = {
  hour: localHour,
  day: localDay,
  week: (moment, zone) => isoWeek(localDay(moment, zone)),
  month: (moment, zone) => localDay(moment, zone).slice(0, 7),
}

describe.each([
  'UTC',
  'Europe/Berlin',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
])('in %s', (zone) => {
  test.each(Object.keys(PERIODS))('each %s has its events, in the order of time', async (group_by) => {
    for (const day of CHANGES) {
      const [from, to] = [Date.parse(day) - DAY_MS, Date.parse(day) + DAY_MS - 1]
      const counts = new Map<string, number>()
      for (const moment of moments.filter((each) => each >= from && each <= to)) {
        const key = PERIODS[group_by]?.(moment, zone) ?? ''
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
      const filters = { date_after: new Date(from).toISOString(), date_before: new Date(to).toISOString() }
      const { body } = await aggregate({ group_by, time_zone: zone, limit: 50, filters })
      const expected = [...counts].map(([key, value]) => ({ key, value })).slice(-50)
      expect(body.buckets, day).toEqual(expected)
    }
  })

  test('a date alone is that day', async () => {
    for (const day of CHANGES) {
      const { body } = await aggregate({
        group_by: 'day',
        time_zone: zone,
        filters: { date_after: day, date_before: day },
      })
      const value = moments.filter((moment) => localDay(moment, zone) === day).length
      expect(body.buckets, day).toEqual([{ key: day, value }])
    }
  })
})

test("the workspace's zone counts unless the request names one, in any case", async () => {
  const own = await createTestTenant(service)
  const at = '2026-06-01T23:30:00Z'
  await own.call('POST', '/v1/events', {
    events: [{ event: 'late', visitor_id: 'v', timestamp: '2026-06-01T22:30:00Z' }],
  })
  const days = async (more: object = {}) =>
    (await aggregate({ group_by: 'day', ...more }, own)).body.buckets.map(({ key }: Bucket) => key)
  expect([at, await days()]).toEqual([at, ['2026-06-01']])
  await own.call('PATCH', '/v1/tenant', { time_zone: 'Europe/Berlin' })
  expect(await days()).toEqual(['2026-06-02'])
  expect(await days({ time_zone: 'UTC' })).toEqual(['2026-06-01'])
  expect(await days({ time_zone: 'asia/kolkata' })).toEqual(['2026-06-02'])
  const contacts = await own.call('POST', '/v1/aggregate', {
    entity: 'contacts',
    group_by: 'created_day',
    time_zone: 'ASIA/TOKYO',
  })
  expect(contacts.status).toBe(200)
})

test('every time zone has its days, in both databases', async () => {
  const zones = Intl.supportedValuesOf('timeZone')
  const { rows } = await sql<{ day: string }>`
    SELECT to_char('2026-03-29 12:00:00Z'::timestamptz AT TIME ZONE zone, 'YYYY-MM-DD') AS day
    FROM unnest(${zones}::text[]) WITH ORDINALITY AS zones (zone, nth) ORDER BY nth`.execute(service.stores.database)
  const noon = Date.parse('2026-03-29T12:00:00Z')
  expect(rows.map(({ day }) => day)).toEqual(zones.map((zone) => localDay(noon, zone)))
  const [from, until] = [Date.UTC(2000, 0), Date.UTC(2028, 0)]
  for (const zone of zones) {
    const offsets = offsetsBetween(zone, from, until)
    for (const { sinceMs, seconds } of offsets) expect([zone, offsetAt(sinceMs, zone)]).toEqual([zone, seconds])
    for (const { sinceMs } of offsets.slice(1)) expect(offsetAt(sinceMs - 1000, zone)).not.toBe(offsetAt(sinceMs, zone))
  }
}, 60_000)

/** By the name of the offset, `GMT+05:30`. */
function offsetAt(moment: number, timeZone: string): number {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(localTime(moment, timeZone)) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60)
}
