import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { localIntervals } from '../../test/local-intervals.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { randomFrom, type StreamEvent, writeStream } from '../../test/streams.ts'
import { DAY_MS, HOUR_MS } from '../platform/time.ts'
import { backgroundContext } from '../segments/events.ts'
import type { EventMeant } from './question.ts'
import { peopleOfRetention, type RetentionQuestion } from './retention.ts'
import type { PersonRow } from './retention-cohorts.ts'

let service: TestService
let tenants: TestTenant[]
let now = new Date('2026-06-01T12:00:00Z')

beforeAll(async () => {
  service = await startTestService({}, { clock: () => now })
  tenants = await Promise.all([0, 1, 2].map(() => createTestTenant(service)))
})
afterAll(() => service.close())

const UNITS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS, month: 30 * DAY_MS }
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago']
const NAMES = ['view', 'click', 'paid']
const MEANT: EventMeant[] = [
  { event: 'view' },
  { event: 'click', where: [isFrom('DE')] },
  { types: ['view', 'paid'] },
  {},
]

function isFrom(country: string) {
  return { property: 'country', operator: 'equals', value: country }
}

function isMeant({ event, types, where }: EventMeant, { name, country }: StreamEvent): boolean {
  if (where && country !== 'DE') return false
  return types?.includes(name) ?? (event === undefined || event === name)
}

interface Asked extends RetentionQuestion {
  date_from: string
  date_to: string
  interval: keyof typeof UNITS
  intervals: number
  mode: 'on' | 'on_or_after'
  return: 'any' | EventMeant
}

/** The people of each cohort, and those who came back in each interval after: computed without the service's code. */
function naive(stream: readonly StreamEvent[], asked: Asked, zone: string) {
  const [from, until] = [Date.parse(asked.date_from), Date.parse(asked.date_to)]
  const { keys, starts } = localIntervals(asked.interval, zone, from, until, asked.intervals)
  const indexOf = (at: number) => starts.findLastIndex((start) => start <= at)
  const ofPeople = stream.filter(
    ({ person, isBot, isSystem }) => person !== null && (asked.include_bots || !isBot) && !isSystem,
  )
  const counted = ofPeople.filter(({ country }) => !asked.where || country === 'DE')
  const cohorts = keys.map(() => ({
    people: new Set<string>(),
    back: Array.from({ length: asked.intervals }, () => new Set<string>()),
  }))
  for (const [person, events] of Map.groupBy(ofPeople, (event) => String(event.person))) {
    const own = counted.filter((event) => event.person === person)
    const { start, return: comeback } = asked
    const began =
      start === 'first_seen'
        ? events.map(({ at }) => at)
        : own.filter((event) => isMeant(start, event) && event.at >= from && event.at <= until).map(({ at }) => at)
    const first = Math.min(...began)
    if (!(first >= from && first <= until)) continue
    const cohort = indexOf(first)
    cohorts[cohort]?.people.add(person)
    for (const event of own) {
      if (comeback !== 'any' && !isMeant(comeback, event)) continue
      const after = indexOf(event.at) - cohort
      const isLater = asked.mode === 'on_or_after' && event.at <= now.getTime()
      for (let each = 1; each <= asked.intervals; each++) {
        if (after === each || (isLater && after > each)) cohorts[cohort]?.back[each - 1]?.add(person)
      }
    }
  }
  const isOver = (index: number) => Number(starts[index + 1]) <= now.getTime()
  return cohorts.map(({ people, back }, index) => ({
    from: String(keys[index]),
    people,
    back: back.map((each, after) => (isOver(index + after + 1) ? each : null)),
  }))
}

function averageOf(cohorts: ReturnType<typeof naive>, intervals: number) {
  return Array.from({ length: intervals }, (_, after) => {
    const known = cohorts.filter(({ back }) => back[after] !== null)
    const people = known.reduce((sum, each) => sum + each.people.size, 0)
    return people === 0 ? null : known.reduce((sum, { back }) => sum + (back[after]?.size ?? 0), 0) / people
  })
}

/** Each stream has people of its own and, in its tenant, a year of its own. */
const STREAMS = Array.from({ length: 100 }, (_, seed) => ({
  seed,
  begin: Date.UTC(1986 + Math.floor(seed / 3), [1, 5, 8][seed % 3] ?? 0, 24),
}))

function askedOf(begin: number, unit: keyof typeof UNITS, random: () => number): { asked: Asked; zone: string } {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const from = begin + Math.floor(random() * 3 * UNITS[unit])
  const zone = pick(ZONES)
  const asked: Asked = {
    date_from: new Date(from).toISOString(),
    date_to: new Date(from + Math.floor(random() * 4 * UNITS[unit])).toISOString(),
    time_zone: zone,
    interval: unit,
    intervals: 2 + Math.floor(random() * 4),
    mode: pick(['on', 'on_or_after']),
    start: pick(['first_seen', ...MEANT]),
    return: pick(['any', ...MEANT]),
    ...(random() < 0.3 ? { where: [isFrom('DE')] } : {}),
    ...(random() < 0.3 ? { include_bots: true } : {}),
  }
  return { asked, zone }
}

test('random streams give what a naive count gives, and each number its people', { timeout: 300_000 }, async () => {
  let [returns, people, unknown] = [0, 0, 0]
  for (const { seed, begin } of STREAMS) {
    const random = randomFrom(seed * 7919 + 1)
    const tenant = tenants[seed % 3]
    if (!tenant) continue
    const context = backgroundContext(tenant.handle, new Date())
    const unit = (['hour', 'day', 'week', 'month'] as const)[seed % 4] ?? 'day'
    // Clocks change in the night of a Sunday at the end of March, or on other days of autumn.
    const change = unit === 'hour' ? 33 * DAY_MS : unit === 'day' ? 28 * DAY_MS : 0
    const until = begin + change + 9 * UNITS[unit]
    const { events } = await writeStream(service, tenant, {
      ...{ seed: seed + 1, events: 110, from: begin + change, until, moments: 5 + (seed % 40), names: NAMES },
    })
    for (let question = 0; question < 2; question++) {
      const { asked, zone } = askedOf(begin + change, unit, random)
      now = new Date(random() < 0.5 ? '2026-06-01T12:00:00Z' : begin + change + Math.floor(random() * 9 * UNITS[unit]))
      const expected = naive(events, asked, zone)
      const { status, body } = await tenant.call('POST', '/v1/insights/retention', asked)
      expect([seed, status, body.error]).toEqual([seed, 200, undefined])
      expect([seed, body.cohorts]).toEqual([
        seed,
        expected.map(({ from, people, back }) => ({
          ...{ from, size: people.size, returned: back.map((each) => each?.size ?? null) },
        })),
      ])
      expect(body.average).toEqual(averageOf(expected, asked.intervals))
      const cohort = expected[Math.floor(random() * expected.length)]
      const interval = 1 + Math.floor(random() * asked.intervals)
      const back = cohort?.back[interval - 1]
      if (!cohort) continue
      const at = back ? { cohort: cohort.from, interval } : { cohort: cohort.from }
      const rows = await tenant.handle.events.select<PersonRow>(await peopleOfRetention({ ...context, now }, asked, at))
      const isContact = new Map(events.map((event) => [event.person, event.isContact]))
      const counted = [...(back ?? cohort.people)].sort()
      expect(rows.map(({ person, is_contact }) => [person, Boolean(Number(is_contact))]).sort()).toEqual(
        counted.map((person) => [person, isContact.get(person)]),
      )
      returns += expected.flatMap(({ back }) => back).reduce((sum, each) => sum + (each?.size ?? 0), 0)
      people += expected.reduce((sum, each) => sum + each.people.size, 0)
      unknown += expected.flatMap(({ back }) => back).filter((each) => each === null).length
    }
  }
  expect([returns > 500, people > 1000, unknown > 500]).toEqual([true, true, true])
})

describe('a workspace of its own', () => {
  const RANGE = { date_from: '2026-03-02', date_to: '2026-03-08', interval: 'day', intervals: 2 }
  const ask = (tenant: TestTenant, body: object, key?: string) =>
    tenant.call('POST', '/v1/insights/retention', { ...RANGE, ...body }, key)

  async function visits(days: Record<string, string[]>) {
    const tenant = await createTestTenant(service)
    const events = Object.entries(days).flatMap(([person, dates]) =>
      dates.map((date) => ({ visitor_id: person, event: 'visit', timestamp: `${date}T10:00:00Z` })),
    )
    const { body } = await tenant.call('POST', '/v1/events', { events })
    expect(body.failed).toBe(0)
    return tenant
  }

  test('compares with another range, and takes defaults', async () => {
    now = new Date('2026-03-20T12:00:00Z')
    const tenant = await visits({ a: ['2026-03-02', '2026-03-03'], b: ['2026-02-23', '2026-02-25'] })
    const { body } = await ask(tenant, { start: { event: 'visit' }, compare: 'previous_period' })
    expect(body.cohorts).toMatchObject([
      { from: '2026-03-02', size: 1, returned: [1, 0] },
      ...Array(6).fill({ size: 0 }),
    ])
    expect(body.compare.cohorts[0]).toEqual({ from: '2026-02-23', size: 1, returned: [0, 1] })
    expect([body.average, body.compare.average]).toEqual([
      [1, 0],
      [0, 1],
    ])
    const byDefault = await tenant.call('POST', '/v1/insights/retention', { start: {} })
    expect(byDefault.body.cohorts).toHaveLength(30)
    expect(byDefault.body.cohorts[0].returned).toHaveLength(7)
    expect(byDefault.body.cohorts.find(({ from }: { from: string }) => from === '2026-03-02')).toMatchObject({
      returned: [1, 0, 0, 0, 0, 0, 0],
    })
  })

  test('counts system events only where they are named', async () => {
    const tenant = await createTestTenant(service)
    const { contact_id } = (await tenant.call('POST', '/v1/contacts', { email: 'a@example.com' })).body.contact
    expect(contact_id).toBeDefined()
    const today = { last: { value: 1, unit: 'day' }, date_from: undefined, date_to: undefined }
    const named = await ask(tenant, { ...today, start: { event: 'contact_created' } })
    expect(named.body.cohorts).toMatchObject([{ size: 1, returned: [null, null] }])
    expect(named.body.average).toEqual([null, null])
    for (const start of [{}, 'first_seen']) {
      expect((await ask(tenant, { ...today, start })).body.cohorts).toMatchObject([{ size: 0 }])
    }
  })

  test('says what is wrong with a question', async () => {
    const tenant = await createTestTenant(service)
    const both = { event: 'a', types: ['b'] }
    const wrong: [object, string[]][] = [
      [{}, ['start']],
      [{ start: 'last_seen' }, ['start']],
      [{ start: both, return: both }, ['start.types', 'return.types']],
      [{ start: {}, intervals: 1 }, ['intervals']],
      [{ start: {}, intervals: 31 }, ['intervals']],
      [{ start: {}, mode: 'after' }, ['mode']],
      [{ start: {}, interval: 'year' }, ['interval']],
      [{ start: {}, interval: 'hour', date_from: '2020-01-01' }, ['interval']],
      [{ start: {}, last: { value: 1, unit: 'day' } }, ['last']],
      [{ start: {}, time_zone: 'Mars/Crater' }, ['time_zone']],
      [{ start: { where: [{ property: 'country', operator: 'near', value: 'DE' }] } }, ['start.where[0].operator']],
      [{ start: {}, where: [{ property: 'country' }] }, ['where[0].operator']],
    ]
    for (const [question, paths] of wrong) {
      const { status, body } = await ask(tenant, question)
      const found = (body.error?.details ?? []).map(({ path }: { path: string }) => path)
      expect([question, status, body.error?.code, found]).toEqual([
        question,
        400,
        'validation_error',
        expect.arrayContaining(paths),
      ])
    }
  })

  test('needs the scope of events, that of contacts for conditions on them, and shows nothing to another tenant', async () => {
    const tenant = await visits({ a: ['2026-03-02'] })
    const stranger = await createTestTenant(service)
    const start = { event: 'visit' }
    expect((await ask(stranger, { start })).body.cohorts[0]).toMatchObject({ size: 0 })
    expect((await ask(tenant, { start }, await tenant.keyWith('contacts:read'))).status).toBe(403)
    const events = await tenant.keyWith('events:read')
    expect((await ask(tenant, { start }, events)).body.cohorts[0]).toMatchObject({ size: 1 })
    const where = [{ property: 'contact.plan', operator: 'equals', value: 'pro' }]
    expect((await ask(tenant, { start: { ...start, where } }, events)).status).toBe(403)
    const context = backgroundContext(tenant.handle, now)
    const asked = { ...RANGE, interval: 'day', start } as const
    for (const at of [{ cohort: '2026-03-09' }, { cohort: '2026-03-02', interval: 3 }]) {
      await expect(peopleOfRetention(context, asked, at)).rejects.toMatchObject({ status: 400 })
    }
    const soon = { ...context, now: new Date('2026-03-02T12:00:00Z') }
    await expect(peopleOfRetention(soon, asked, { cohort: '2026-03-02', interval: 1 })).rejects.toMatchObject({
      status: 400,
    })
  })
})
