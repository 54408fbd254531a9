import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import {
  expectedResult,
  isoWeek,
  itemsOf,
  type Key,
  localDay,
  localHour,
  numberTextIn,
} from '../../test/aggregation.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { ChangeLog } from '../contacts/writing/transaction.ts'
import { episodeId } from '../journal/episodes.ts'
import { type EventRecord, JOURNAL_FORMAT, NOBODY, SYSTEM_EVENTS, serializeEvents } from '../journal/event-record.ts'
import { linkOwners } from '../owners/link-owners.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS } from '../platform/time.ts'
import { appendRecords } from '../webhooks/append.ts'
import { EVENT_DIMENSIONS } from './event-dimensions.ts'

let service: TestService
let tenant: TestTenant
let records: EventRecord[]
const companyOf = new Map<string, string>()
/** Properties of contacts and companies, by id. */
const propertiesOf = new Map<string, Record<string, unknown>>()

const TEXTS = ['', 'Buy now', 'buy NOW, please', '100%_off', 'Ünï', "quote ' \\ end", '日本']
const PATHS = ['', '/', '/pricing', '/Pricing/teams']
const HOSTS = ['', 'shop.example', 'www.shop.example']
const NAMES = ['page_view', 'button_click', 'Page_View', 'contact_created', 'segment_entered']
const NUMBERS = [
  1,
  2.5,
  -3,
  0,
  '12',
  ' +3.5 ',
  '.5',
  '7.',
  '1e3',
  'Infinity',
  'nan',
  '',
  true,
  null,
  [4],
  { amount: 9 },
  '\t8\n',
  '"5"',
]
const PLANS = [
  'pro',
  'Pro',
  'pro 2',
  '7',
  7,
  7.5,
  true,
  false,
  null,
  '',
  ['a', 'b', 'a', 7],
  [],
  [null],
  'quote " \\ /',
]
const CONTACTS = Array.from({ length: 5 }, newId)
/** Per contact, one identified and one anonymous visitor. */
const EPISODES = CONTACTS.map((_, index) => episodeId('', `visitor ${index}`, 0))
const STRANGER = episodeId('', 'stranger', 0)
/** The last contact was merged into the one before it. */
const MERGED = CONTACTS[4] ?? ''
const CONTACT_OF = new Map([
  ...EPISODES.map((owner, index) => [owner, CONTACTS[Math.min(index, 3)]] as const),
  [MERGED, CONTACTS[3]],
])
const contactOf = ({ owner_id, is_anonymous }: EventRecord) =>
  CONTACT_OF.get(owner_id) ?? (is_anonymous ? null : owner_id)
const FIRST_DAY = Date.UTC(2024, 11, 20)

const ofContact = (event: EventRecord, key: string) => propertiesOf.get(contactOf(event) ?? '')?.[key]
const ofCompany = (event: EventRecord, key: string) =>
  propertiesOf.get(companyOf.get(contactOf(event) ?? '') ?? '')?.[key]
const dataOf = ({ data }: EventRecord) => JSON.parse(data) as Record<string, unknown>
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/St_Johns', 'Australia/Lord_Howe']

/** A simple implementation of every dimension, and of properties. Lists have a key for each item. */
const KEYS: Record<string, (event: EventRecord, zone: string) => Key | Key[]> = {
  event_type: ({ event }) => event,
  domain: ({ domain }) => domain || null,
  url: ({ url }) => url || null,
  url_path: ({ url_path }) => url_path || null,
  title: ({ title }) => title || null,
  text: ({ text }) => text || null,
  element_type: ({ element_type }) => element_type || null,
  element_id: ({ element_id }) => element_id || null,
  class: (event) => event.class || null,
  contact_id: (event) => contactOf(event),
  visitor_id: ({ visitor_id }) => visitor_id || null,
  session_id: ({ session_id }) => session_id || null,
  company_id: (event) => companyOf.get(contactOf(event) ?? '') ?? null,
  hour: ({ timestamp }, zone) => localHour(timestamp, zone),
  day: ({ timestamp }, zone) => localDay(timestamp, zone),
  week: ({ timestamp }, zone) => isoWeek(localDay(timestamp, zone)),
  month: ({ timestamp }, zone) => localDay(timestamp, zone).slice(0, 7),
  device_type: ({ device_type }) => device_type || null,
  browser: ({ browser }) => browser || null,
  os: ({ os }) => os || null,
  referring_domain: ({ referring_domain }) => referring_domain || null,
  utm_source: (event) => event.utm_source || null,
  utm_medium: (event) => event.utm_medium || null,
  utm_campaign: (event) => event.utm_campaign || null,
  utm_term: (event) => event.utm_term || null,
  utm_content: (event) => event.utm_content || null,
  country: (event) => event.country || null,
  region: (event) => event.region || null,
  city: (event) => event.city || null,
  is_bot: ({ is_bot }) => is_bot,
  analytics_user_id: ({ analytics_user_id }) => analytics_user_id || null,
}

const PROPERTIES: typeof KEYS = {
  event: ({ event }) => event,
  origin_mismatch: ({ origin_mismatch }) => origin_mismatch,
  timestamp: ({ timestamp }) => new Date(timestamp).toISOString(),
  createdAt: ({ received_at }) => new Date(received_at).toISOString(),
  event_id: ({ event_id }) => event_id,
  screen: () => null,
  owner_id: () => null,
  plan: () => null,
  'data.plan': (event) => itemsOf(dataOf(event).plan) as Key[],
  'data.amount': (event) =>
    itemsOf(dataOf(event).amount).map((item) => (typeof item === 'object' ? JSON.stringify(item) : item)) as Key[],
  'data.order.plan': (event) => itemsOf((dataOf(event).order as { plan?: unknown } | undefined)?.plan) as Key[],
  'data.items.sku': (event) =>
    itemsOf(dataOf(event).items).flatMap((item) => itemsOf((item as { sku?: unknown }).sku)) as Key[],
  'data.with\\.dot': (event) => itemsOf(dataOf(event)['with.dot']) as Key[],
  'data.nowhere': () => null,
  'data.plan.nowhere': () => null,
  'contact.country': (event) => (ofContact(event, 'country') as Key) ?? null,
  'contact.tags': (event) => itemsOf(ofContact(event, 'tags')) as Key[],
  'contact.properties.score': (event) => (ofContact(event, 'score') as Key) ?? null,
  'contact.nowhere': () => null,
  'company.industry': (event) => (ofCompany(event, 'industry') as Key) ?? null,
}

/** A simple implementation of the fields of numbers. */
const FIELDS: Record<string, (event: EventRecord) => unknown[]> = {
  amount: (event) => itemsOf(dataOf(event).amount),
  'a"b': (event) => itemsOf(dataOf(event)['a"b']),
  'with.dot': (event) => itemsOf(dataOf(event)['with.dot']),
  nowhere: () => [],
  "'": () => [],
  'data.amount': (event) => itemsOf(dataOf(event).amount),
  'data.nested.amount': (event) => itemsOf((dataOf(event).nested as { amount: unknown }).amount),
  'data.items.price': (event) =>
    itemsOf(dataOf(event).items).flatMap((item) => itemsOf((item as { price?: unknown }).price)),
}

/** Whom the metrics `unique_…` count. */
const WHO: Record<string, (event: EventRecord) => string | null> = {
  unique_contacts: (event) => contactOf(event),
  unique_people: (event) => contactOf(event) ?? (event.owner_id === NOBODY ? null : event.owner_id),
  unique_visitors: ({ visitor_id }) => visitor_id || null,
  unique_sessions: ({ session_id }) => session_id || null,
}

const includes = (text: string, part: unknown) => text.toLowerCase().includes(String(part).toLowerCase())
const moment = (text: unknown) => Date.parse(String(text))
const isDay = (value: unknown) => String(value).length === 10

/** A simple implementation of every filter. */
const FILTERS: Record<string, (event: EventRecord, value: unknown, zone: string) => boolean> = {
  event_type: ({ event }, value) => event === value,
  event_types: ({ event }, value) => (value as string[]).includes(event),
  domain: ({ domain }, value) => domain === value,
  url: ({ url }, value) => url === value,
  url_path: ({ url_path }, value) => url_path === value,
  url_contains: ({ url }, value) => includes(url, value),
  text: ({ text }, value) => text === value,
  text_contains: ({ text }, value) => includes(text, value),
  title: ({ title }, value) => title === value,
  title_contains: ({ title }, value) => includes(title, value),
  element_type: ({ element_type }, value) => element_type === value,
  element_id: ({ element_id }, value) => element_id === value,
  class_contains: (event, value) => includes(event.class, value),
  contact_id: (event, value) => contactOf(event) === value,
  contact_ids: (event, value) => (value as (string | null)[]).includes(contactOf(event)),
  visitor_id: ({ visitor_id }, value) => visitor_id === value,
  session_id: ({ session_id }, value) => session_id === value,
  analytics_user_id: ({ analytics_user_id }, value) => analytics_user_id === value,
  referring_domain: ({ referring_domain }, value) => referring_domain === value,
  device_type: ({ device_type }, value) => device_type === value,
  browser: ({ browser }, value) => browser === value,
  os: ({ os }, value) => os === value,
  utm_source: (event, value) => event.utm_source === value,
  utm_medium: (event, value) => event.utm_medium === value,
  utm_campaign: (event, value) => event.utm_campaign === value,
  utm_term: (event, value) => event.utm_term === value,
  utm_content: (event, value) => event.utm_content === value,
  country: (event, value) => event.country === value,
  region: (event, value) => event.region === value,
  city: (event, value) => event.city === value,
  is_bot: ({ is_bot }, value) => is_bot === value,
  origin_mismatch: ({ origin_mismatch }, value) => origin_mismatch === value,
  identified_only: (event, value) => value === false || contactOf(event) !== null,
  date_after: ({ timestamp }, value, zone) =>
    isDay(value) ? localDay(timestamp, zone) >= String(value) : timestamp >= moment(value),
  date_before: ({ timestamp }, value, zone) =>
    isDay(value) ? localDay(timestamp, zone) <= String(value) : timestamp <= moment(value),
}

const text = fc.constantFrom(...TEXTS)
const filled = fc.constantFrom(...TEXTS.filter(Boolean), 'nowhere')
const part = fc.constantFrom('now', 'NOW', '%', '_', 'ü', '本', '\\', "'", 'shop', 'zzz')
const contact = fc.constantFrom(...CONTACTS)
const someId = fc.oneof(contact, fc.constantFrom('nope', NOBODY, newId()))
const time = fc.integer({ min: 0, max: 60 * DAY_MS }).map((offset) => FIRST_DAY + offset)
const date = fc.oneof(
  time.map((at) => new Date(at).toISOString()),
  time.map((at) => new Date(at).toISOString().slice(0, 10)),
)

const FILTER_VALUES = {
  event_type: fc.constantFrom(...NAMES, 'unknown'),
  event_types: fc.array(fc.constantFrom(...NAMES), { maxLength: 3 }),
  domain: fc.constantFrom('shop.example', 'other.example'),
  url: fc.constantFrom('https://shop.example/pricing', 'https://shop.example/'),
  url_path: fc.constantFrom('/pricing', '/', '/%'),
  url_contains: part,
  text: filled,
  text_contains: part,
  title: filled,
  title_contains: part,
  element_type: filled,
  element_id: filled,
  class_contains: part,
  contact_id: someId,
  contact_ids: fc.array(someId, { maxLength: 4 }),
  visitor_id: fc.constantFrom('v1', 'v2', 'v'),
  session_id: fc.constantFrom('s1', 's2'),
  analytics_user_id: fc.constantFrom('a1', 'a2'),
  referring_domain: fc.constantFrom('google.com', 'bing.com'),
  device_type: fc.constantFrom('desktop', 'mobile'),
  browser: fc.constantFrom('Chrome', 'chrome'),
  os: fc.constantFrom('macOS', 'iOS'),
  utm_source: filled,
  utm_medium: filled,
  utm_campaign: filled,
  utm_term: filled,
  utm_content: filled,
  country: fc.constantFrom('DE', 'FR', 'de'),
  region: filled,
  city: filled,
  is_bot: fc.boolean(),
  origin_mismatch: fc.boolean(),
  identified_only: fc.boolean(),
  date_after: date,
  date_before: date,
}

const event = fc.record<Values>({
  event: fc.constantFrom(...NAMES),
  timestamp: time,
  domain: fc.constantFrom(...HOSTS),
  url_path: fc.constantFrom(...PATHS),
  title: text,
  text,
  class: text,
  element_id: text,
  element_type: text,
  visitor_id: fc.constantFrom('', 'v1', 'v2', 'v3'),
  session_id: fc.constantFrom('', 's1', 's2'),
  analytics_user_id: fc.constantFrom('', 'a1', 'A1'),
  owner: fc.oneof(contact, fc.constantFrom(...EPISODES), fc.constantFrom(STRANGER, NOBODY)),
  referring_domain: fc.constantFrom('', 'google.com', 'bing.com'),
  browser: fc.constantFrom('', 'Chrome', 'Firefox'),
  os: fc.constantFrom('', 'macOS', 'iOS'),
  utm_source: text,
  utm_medium: text,
  utm_campaign: text,
  utm_term: text,
  utm_content: text,
  country: fc.constantFrom('', 'DE', 'FR'),
  region: text,
  city: text,
  device_type: fc.constantFrom('', 'desktop', 'mobile'),
  is_bot: fc.boolean(),
  origin_mismatch: fc.boolean(),
  data: fc
    .record(
      {
        amount: fc.constantFrom(...NUMBERS),
        'a"b': fc.constantFrom(...NUMBERS),
        'with.dot': fc.constantFrom(0.1, 0.2, -0.3, 'x'),
        plan: fc.constantFrom(...PLANS),
        order: fc.record({ plan: fc.constantFrom(...PLANS) }),
        items: fc.array(
          fc.record({ sku: fc.constantFrom('a', 'b', 1, null), price: fc.constantFrom(0.1, 0.2, 19.99) }),
          {
            maxLength: 3,
          },
        ),
      },
      { requiredKeys: [] },
    )
    .map((data) => JSON.stringify({ ...data, nested: { amount: 5 } })),
})

type Values = Partial<EventRecord> & { owner?: string }

/** A metric and the groups know nothing of each other, so each is in several pairs, not in all. */
const METRICS = ['count', 'avg', 'sum', 'min', 'max', 'median', 'p90', ...Object.keys(WHO)]

const request = fc.record({
  group_by: fc.constantFrom(...Object.keys(KEYS), ...Object.keys(PROPERTIES)),
  metric: fc.constantFrom('count', ...METRICS),
  metric_field: fc.constantFrom(...Object.keys(FIELDS)),
  time_zone: fc.constantFrom(undefined, ...ZONES),
  limit: fc.constantFrom(1, 2, 3, 25, 50),
  include: fc.constantFrom('system', undefined),
  filters: fc
    .subarray(Object.keys(FILTER_VALUES) as (keyof typeof FILTER_VALUES)[], { maxLength: 2 })
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, FILTER_VALUES[name]])))),
})

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const now = new Date()
  const companies = [newId(), newId()]
  await tenant.handle.db
    .insertInto('companies')
    .values(
      companies.map((company_id, index) => {
        const properties = index === 0 ? { industry: 'Steam' } : {}
        propertiesOf.set(company_id, properties)
        return { company_id, properties: JSON.stringify(properties), created_at: now, updated_at: now }
      }),
    )
    .execute()
  for (const [index, contact_id] of CONTACTS.slice(0, 4).entries()) {
    const company_id = index < 3 ? companies[index % 2] : null
    if (company_id) companyOf.set(contact_id, company_id)
    const properties = [{ country: 'FR', score: 0.1, tags: ['a', 'b'] }, { country: 'FR', score: '0.1' }, { tags: [] }][
      index
    ]
    propertiesOf.set(contact_id, properties ?? {})
    await tenant.handle.db
      .insertInto('contacts')
      .values({
        contact_id,
        company_id,
        properties: JSON.stringify(properties ?? {}),
        creation_source: 'import',
        first_seen_at: now,
        created_at: now,
        updated_at: now,
      })
      .execute()
  }
  await tenant.handle.transaction(async (tx) => {
    const log = new ChangeLog()
    for (const [owner, contactId = ''] of CONTACT_OF) await linkOwners(tx, log, [owner], contactId)
    await appendRecords(tx, [], log.ownerLinks)
  })
  records = fc.sample(event, { numRuns: 600, seed: 42 }).map((values) => toRecord(tenant.id, values))
  const strangers = fc.sample(event, { numRuns: 50, seed: 43 }).map((values) => toRecord(newId(), values))
  const body = serializeEvents([...records, ...strangers])
  await service.stores.clickhouse.insert('events', JOURNAL_FORMAT, body, newId())
})

function toRecord(tenantId: string, { owner = NOBODY, ...values }: Values): EventRecord {
  const { event = '', domain, url_path, timestamp = 0 } = values
  return {
    received_at: timestamp,
    referrer: '',
    screen: '',
    language: '',
    timezone: '',
    analytics_user_id: '',
    user_agent: '',
    ...values,
    is_system: (SYSTEM_EVENTS as readonly string[]).includes(event),
    event_id: newId(),
    url: domain ? `https://${domain}${url_path}` : '',
    owner_id: owner,
    is_anonymous: owner === NOBODY || owner === STRANGER || EPISODES.includes(owner),
    tenant_id: tenantId,
  } as EventRecord
}

function matching({ filters, include, time_zone: zone = 'UTC' }: AggregateRequest): EventRecord[] {
  const named = [filters.event_type, ...((filters.event_types as string[] | undefined) ?? [])]
  const withSystem = include === 'system' || SYSTEM_EVENTS.some((name) => named.includes(name))
  return records.filter(
    (record) =>
      (withSystem || !record.is_system) &&
      Object.entries(filters).every(([name, value]) => FILTERS[name]?.(record, value, zone)),
  )
}

function expected(request: AggregateRequest, of: EventRecord[]) {
  const { group_by, time_zone: zone = 'UTC' } = request
  const keyOf = KEYS[group_by] ?? PROPERTIES[group_by]
  const rules = {
    keysOf: (record: EventRecord) => {
      const keys = [keyOf?.(record, zone) ?? null].flat()
      return keys.length === 0 ? [null] : keys
    },
    hidesMissing: ['contact_id', 'visitor_id', 'session_id', 'company_id'].includes(group_by),
    isTime: ['hour', 'day', 'week', 'month'].includes(group_by),
  }
  const numbersOf = (record: EventRecord) =>
    (FIELDS[request.metric_field]?.(record) ?? []).flatMap((item) => numberTextIn(item) ?? [])
  const whoOf = (record: EventRecord, metric: string) => WHO[metric]?.(record) ?? null
  return expectedResult(of, rules, { ...request, numbersOf, whoOf })
}

test('the simple implementation covers every dimension and filter', () => {
  expect(Object.keys(KEYS).sort()).toEqual(Object.keys(EVENT_DIMENSIONS).sort())
  expect(Object.keys(FILTER_VALUES).sort()).toEqual(Object.keys(FILTERS).sort())
})

async function compare(request: AggregateRequest) {
  const { status, body } = await tenant.call('POST', '/v1/aggregate', { entity: 'events', ...request })
  expect(status, JSON.stringify([request, body])).toBe(200)
  const { buckets, total, distinct_groups } = expected(request, matching(request))
  const { entity, group_by, metric } = body
  expect({ entity, group_by, metric }).toEqual({ entity: 'events', group_by: request.group_by, metric: request.metric })
  // The names of contacts and companies have their own test.
  const shown = body.buckets.map(({ key, value }: { key: Key; value: number | null }) => ({ key, value }))
  const returned = { buckets: shown, total: body.total, distinct_groups: body.distinct_groups }
  expect(returned, JSON.stringify(request)).toEqual({ buckets, total, distinct_groups })
  expect(body.total_matching).toBe(total)
}

interface AggregateRequest {
  group_by: string
  metric: string
  metric_field: string
  limit: number
  include: string | undefined
  filters: Record<string, unknown>
  time_zone?: string | undefined
}

test.each(Object.keys({ ...KEYS, ...PROPERTIES }).map((group_by, index) => ({ group_by, index })))(
  'group_by $group_by agrees with the simple implementation',
  async ({ group_by, index }) => {
    const common = { group_by, metric_field: 'amount', include: undefined, filters: {} }
    await compare({ ...common, metric: 'count', limit: 2 })
    for (const offset of [0, 3, 7]) {
      const metric = METRICS[1 + ((index + offset) % (METRICS.length - 1))] ?? ''
      await compare({ ...common, metric, limit: 50, time_zone: ZONES[index % ZONES.length] })
    }
  },
)

test.each(METRICS)('the metric %s agrees with the simple implementation', async (metric) => {
  // Groups with a key, groups whose missing key is hidden, and times, which have another order.
  for (const group_by of ['event_type', 'session_id', 'contact_id', 'day', 'data.plan', 'company_id', 'contact.tags']) {
    for (const limit of [2, 50]) {
      await compare({ group_by, metric, metric_field: 'amount', limit, include: undefined, filters: {} })
    }
  }
})

test.each(Object.keys(FILTERS))('the filter %s agrees with the simple implementation', async (name) => {
  const values = fc.sample(FILTER_VALUES[name as keyof typeof FILTER_VALUES] as fc.Arbitrary<unknown>, {
    numRuns: 12,
    seed: 1,
  })
  // Many filters have few values to choose from.
  for (const value of new Map(values.map((each) => [JSON.stringify(each), each])).values()) {
    const filters = { [name]: value }
    await compare({
      group_by: 'event_type',
      metric: 'count',
      metric_field: 'x',
      limit: 50,
      include: undefined,
      filters,
    })
  }
})

test('random requests agree with the simple implementation', async () => {
  await fc.assert(fc.asyncProperty(request, compare), { numRuns: 200, seed: 7 })
})

test('events are grouped by company for any number of contacts', async () => {
  const own = await createTestTenant(service)
  const now = new Date()
  const [company_id, contactIds] = [newId(), Array.from({ length: 25_000 }, newId)]
  await own.handle.db.insertInto('companies').values({ company_id, created_at: now, updated_at: now }).execute()
  for (let from = 0; from < contactIds.length; from += 5_000) {
    const rows = contactIds.slice(from, from + 5_000).map((contact_id, index) => ({
      contact_id,
      // Every second contact has no company.
      company_id: index % 2 === 0 ? company_id : null,
      creation_source: 'import',
      ...{ first_seen_at: now, created_at: now, updated_at: now },
    }))
    await own.handle.db.insertInto('contacts').values(rows).execute()
  }
  const events = contactIds.map((contact_id) =>
    toRecord(own.id, { ...records[0], event: 'x', owner: contact_id, data: '{"amount":2}' }),
  )
  await service.stores.clickhouse.insert('events', JOURNAL_FORMAT, serializeEvents(events), newId())
  const request = { entity: 'events', group_by: 'company_id', metric: 'sum', metric_field: 'amount' }
  const { body } = await own.call('POST', '/v1/aggregate', request)
  expect(body).toMatchObject({ total: 25_000, distinct_groups: 1, buckets: [{ key: company_id, value: 25_000 }] })
})

test('numbers of any size are aggregated', async () => {
  const own = await createTestTenant(service)
  await own.track({
    events: [1e25, -1.7e308, -1.5e-7, 12345678901234568].map((n) => ({ event: `of ${n}`, data: { n } })),
  })
  const request = { entity: 'events', group_by: 'event_type', metric: 'max', metric_field: 'n' }
  const { body } = await own.call('POST', '/v1/aggregate', request)
  const values = body.buckets.map(({ value }: { value: number }) => value)
  expect(values).toEqual([1e25, 12345678901234568, -1.5e-7, -1.7e308])
})

test('groups by contact and by company have their names', async () => {
  const own = await createTestTenant(service)
  const { body: created } = await own.call('POST', '/v1/companies', { name: 'Engines', domain: 'engines.example' })
  const company_id = created.company.company_id
  const ada = await own.contact('ada@x.example', { firstname: 'Ada' }, { visitor_id: 'ada', company_id })
  const gone = await own.contact('gone@x.example', {}, { visitor_id: 'gone' })
  for (const visitor_id of ['ada', 'gone']) await own.track({ visitor_id, events: [{ event: 'seen' }] })
  await own.call('DELETE', `/v1/contacts/${gone}`)
  const groups = async (group_by: string) =>
    (await own.call('POST', '/v1/aggregate', { entity: 'events', group_by })).body.buckets
  const contact = { _id: ada, email: 'ada@x.example', firstname: 'Ada', lastname: null }
  expect(await groups('contact_id')).toEqual([
    { key: ada, value: 1, contact },
    { key: gone, value: 1, contact: null },
  ])
  const company = { _id: company_id, name: 'Engines', domain: 'engines.example' }
  expect(await groups('company_id')).toEqual([{ key: company_id, value: 1, company }])
  expect(await groups('visitor_id')).toContainEqual({ key: 'ada', value: 1 })
})
