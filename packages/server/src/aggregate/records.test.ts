import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectedResult, itemsOf, type Key, localDay, numberIn, numberTextIn } from '../../test/aggregation.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { COMPANY_DIMENSIONS } from '../companies/dimensions.ts'
import { CONTACT_DIMENSIONS } from '../contacts/dimensions.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS } from '../platform/time.ts'

interface StoredRecord {
  id: string
  properties: Record<string, unknown>
  created_at: Date
  company_id: string | null
  name: string | null
  domain: string | null
}

let service: TestService
let tenant: TestTenant
let contacts: StoredRecord[]
let companies: StoredRecord[]
const companyIds = [newId(), newId(), newId()]
const segmentId = newId()
const members = new Set<string>()

const TEXTS = [
  'Berlin',
  'berlin',
  '',
  '100%_off',
  'quote \' \\ "',
  'Ünï',
  7,
  '7',
  true,
  ['a', 'b', 'a'],
  [],
  [7, ''],
  'x'.repeat(250),
]
const NUMBERS = [0, 1, 10, 11, 50, 51, 200, 5_000, 10_001, '42', ' 7.5 ', '1e3', 'many', '', true, [3], -4, 0.5]
const REVENUES = [0, -5, 999_999.5, 1e6, '9999999', 10e6, 5e7, 1e8, 4e8, 5e8, 1e9, 1e12, 'much']
const FIRST_DAY = Date.UTC(2025, 11, 28)

const text = fc.constantFrom(...TEXTS)
const properties = fc.record(
  {
    lifecyclestage: fc.constantFrom('lead', 'customer', 'mql'),
    lead_status: text,
    industry: text,
    country: text,
    state: text,
    city: text,
    company: text,
    jobtitle: fc.constantFrom('Engineer', 'engineering LEAD', '100%', ''),
    linkedin_url: fc.constantFrom('', 'https://example.com/in/ada'),
    social_profile_url: fc.constantFrom('', 'https://example.com/ada'),
    numberofemployees: fc.constantFrom(...NUMBERS),
    annualrevenue: fc.constantFrom(...REVENUES),
    score: fc.constantFrom(...NUMBERS),
    'a.b "c"': text,
  },
  { requiredKeys: [] },
)
const record = fc.record({
  properties,
  company_id: fc.constantFrom(...companyIds, null),
  name: fc.constantFrom('Acme', 'ACME', null),
  at: fc.integer({ min: 0, max: 40 * DAY_MS }),
})

function stored(seed: number, numRuns: number): StoredRecord[] {
  return fc.sample(record, { numRuns, seed }).map(({ at, ...values }, index) => ({
    ...values,
    id: newId(),
    domain: index % 3 === 0 ? null : `d${index}.example`,
    created_at: new Date(FIRST_DAY + at),
  }))
}

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  companies = stored(1, 120).map((company, index) => ({ ...company, id: companyIds[index] ?? company.id }))
  contacts = stored(2, 250)
  const times = ({ created_at }: StoredRecord) => ({ created_at, updated_at: created_at })
  for (const { handle } of [tenant, await createTestTenant(service)]) {
    await handle.db
      .insertInto('companies')
      .values(
        companies.map((company) => {
          const { id: company_id, name, domain, properties } = company
          return { company_id, name, domain, properties: JSON.stringify(properties), ...times(company) }
        }),
      )
      .execute()
    await handle.db
      .insertInto('contacts')
      .values(
        contacts.map((contact) => ({
          contact_id: contact.id,
          company_id: contact.company_id,
          properties: JSON.stringify(contact.properties),
          creation_source: 'import',
          first_seen_at: contact.created_at,
          ...times(contact),
        })),
      )
      .execute()
  }
  for (const { id } of contacts.filter((_, index) => index % 4 === 0)) members.add(id)
  const now = new Date()
  const definition = { name: 'S', filter: '{}', uses_events: false, uses_time: false }
  await tenant.handle.db
    .insertInto('segments')
    .values({ segment_id: segmentId, ...definition, evaluated_at: now, created_at: now, updated_at: now })
    .execute()
  await tenant.handle.db
    .insertInto('segment_members')
    .values([...members].map((contact_id) => ({ segment_id: segmentId, contact_id, entered_at: now })))
    .execute()
})

/** A property as PostgreSQL's text; an empty one counts as missing. */
function textOf({ properties }: StoredRecord, key: string): string | null {
  const value = properties[key]
  if (value === undefined || value === '') return null
  return Array.isArray(value) ? `[${value.map((each) => JSON.stringify(each)).join(', ')}]` : String(value)
}
/** A property as it is; of a list, each item. An empty text counts as missing. */
const property = (key: string) => (of: StoredRecord) =>
  itemsOf(of.properties[key]).filter((item) => item !== '') as Key[]
const companyOf = ({ company_id }: StoredRecord) => companies.find(({ id }) => id === company_id)
const ofCompany = (key: string) => (of: StoredRecord) => {
  const company = companyOf(of)
  return company ? property(key)(company) : []
}
const hasProfile = ({ properties }: StoredRecord) =>
  Boolean(properties.linkedin_url) || Boolean(properties.social_profile_url)

function size({ properties }: StoredRecord): Key {
  const employees = numberIn(properties.numberofemployees)
  if (employees === null || employees < 1) return null
  if (employees < 11) return '1-10'
  if (employees < 51) return '11-50'
  if (employees < 201) return '51-200'
  if (employees < 501) return '201-500'
  if (employees < 1_001) return '501-1000'
  if (employees < 5_001) return '1001-5000'
  return employees < 10_001 ? '5001-10000' : '10001+'
}

function revenue({ properties }: StoredRecord): Key {
  const amount = numberIn(properties.annualrevenue)
  if (amount === null) return null
  if (amount < 1e6) return '<1M'
  if (amount < 10e6) return '1M-10M'
  if (amount < 50e6) return '10M-50M'
  if (amount < 100e6) return '50M-100M'
  if (amount < 500e6) return '100M-500M'
  return amount < 1e9 ? '500M-1B' : '1B+'
}

const KEYS: Record<string, Record<string, (of: StoredRecord, zone: string) => Key | Key[]>> = {
  contacts: {
    lifecycle_stage: property('lifecyclestage'),
    lead_status: property('lead_status'),
    industry: property('industry'),
    country: property('country'),
    state: property('state'),
    city: property('city'),
    company: property('company'),
    job_title: property('jobtitle'),
    company_id: ({ company_id }) => company_id,
    created_day: ({ created_at }, zone) => localDay(created_at.getTime(), zone),
    has_linkedin: hasProfile,
    has_social_profile: hasProfile,
  },
  companies: {
    industry: property('industry'),
    country: property('country'),
    state: property('state'),
    lifecycle_stage: property('lifecyclestage'),
    size_bucket: size,
    employee_band: size,
    revenue_bucket: revenue,
    contact_count: ({ id }) => contacts.filter(({ company_id }) => company_id === id).length,
  },
}

/** Properties and columns, which are no dimensions. */
const PROPERTIES: typeof KEYS = {
  contacts: {
    score: property('score'),
    'properties.country': property('country'),
    'a.b "c"': property('a.b "c"'),
    'company.score': ofCompany('score'),
    'company.size_bucket': (of) => {
      const company = companyOf(of)
      return company ? size(company) : null
    },
    'company.name': (of) => companyOf(of)?.name ?? null,
    'company.contact_count': (of) =>
      companyOf(of) ? contacts.filter(({ company_id }) => company_id === of.company_id).length : null,
    creation_source: () => 'import',
    created_at: ({ created_at }) => created_at.toISOString(),
    nowhere: () => null,
    'company.nowhere': () => null,
  },
  companies: {
    score: property('score'),
    name: ({ name }) => name,
    domain: ({ domain }) => domain,
    city: property('city'),
    created_at: ({ created_at }) => created_at.toISOString(),
    nowhere: () => null,
  },
}

/** The fields of numbers. */
const FIELDS: Record<string, Record<string, (of: StoredRecord) => unknown>> = {
  contacts: {
    score: ({ properties }) => properties.score,
    annualrevenue: ({ properties }) => properties.annualrevenue,
    'properties.score': ({ properties }) => properties.score,
    'company.score': (of) => companyOf(of)?.properties.score,
    nowhere: () => null,
    "'": () => null,
  },
  companies: {
    score: ({ properties }) => properties.score,
    annualrevenue: ({ properties }) => properties.annualrevenue,
    contact_count: ({ id }) => contacts.filter(({ company_id }) => company_id === id).length,
    nowhere: () => null,
  },
}

const METRICS = ['avg', 'sum', 'min', 'max', 'median', 'p90']
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/St_Johns']

type Matches = (of: StoredRecord, value: unknown, zone: string) => boolean
const equals =
  (key: string): Matches =>
  (of, value) =>
    textOf(of, key) === value
const employees: (compare: (number: number, bound: number) => boolean) => Matches = (compare) => (of, value) => {
  const number = numberIn(of.properties.numberofemployees)
  return number !== null && compare(number, Number(value))
}

const isDay = (value: unknown) => String(value).length === 10

const FILTERS: Record<string, Record<string, Matches>> = {
  contacts: {
    company: equals('company'),
    industry: equals('industry'),
    lifecycle_stage: equals('lifecyclestage'),
    lead_status: equals('lead_status'),
    city: equals('city'),
    state: equals('state'),
    country: equals('country'),
    job_title: (of, value) => (textOf(of, 'jobtitle') ?? '').toLowerCase().includes(String(value).toLowerCase()),
    created_after: ({ created_at }, value, zone) =>
      isDay(value) ? localDay(created_at.getTime(), zone) >= String(value) : created_at >= new Date(String(value)),
    created_before: ({ created_at }, value, zone) =>
      isDay(value) ? localDay(created_at.getTime(), zone) <= String(value) : created_at <= new Date(String(value)),
    contact_ids: ({ id }, value) => (value as string[]).includes(id),
    segment_id: ({ id }) => members.has(id),
  },
  companies: {
    name: ({ name }, value) => name === value,
    domain: ({ domain }, value) => domain === value,
    industry: equals('industry'),
    country: equals('country'),
    state: equals('state'),
    min_employees: employees((number, bound) => number >= bound),
    max_employees: employees((number, bound) => number <= bound),
  },
}

const filterText = fc.constantFrom(...TEXTS.filter((value) => typeof value === 'string' && value !== ''), 'nowhere')
const date = fc.integer({ min: 0, max: 40 }).map((day) => new Date(FIRST_DAY + day * DAY_MS).toISOString())
const dates = fc.oneof(
  date,
  date.map((time) => time.slice(0, 10)),
)

const VALUES: Record<string, () => Record<string, fc.Arbitrary<unknown>>> = {
  contacts: () => ({
    company: filterText,
    industry: filterText,
    lifecycle_stage: fc.constantFrom('lead', 'customer', 'other'),
    lead_status: filterText,
    city: filterText,
    state: filterText,
    country: filterText,
    job_title: fc.constantFrom('engineer', 'LEAD', '%', '_', 'x'),
    created_after: dates,
    created_before: dates,
    contact_ids: fc.array(fc.oneof(fc.constantFrom(...contacts.map(({ id }) => id)), fc.constant('nope')), {
      maxLength: 100,
    }),
    segment_id: fc.constant(segmentId),
  }),
  companies: () => ({
    name: fc.constantFrom('Acme', 'acme', 'ACME'),
    domain: fc.constantFrom('d1.example', 'd2.example', 'd999.example'),
    industry: filterText,
    country: filterText,
    state: filterText,
    min_employees: fc.constantFrom(0, 1, 11, 42, 10_001),
    max_employees: fc.constantFrom(0, 1, 11, 42, 10_001),
  }),
}

interface AggregateRequest {
  group_by: string
  metric: string
  metric_field?: string
  limit: number
  filters: Record<string, unknown>
  time_zone?: string | undefined
}

async function compare(entity: string, request: AggregateRequest) {
  const { status, body } = await tenant.call('POST', '/v1/aggregate', { entity, ...request })
  expect(status, JSON.stringify([request, body])).toBe(200)
  const { group_by, time_zone: zone = 'UTC' } = request
  const all = entity === 'contacts' ? contacts : companies
  const matching = all.filter((of) =>
    Object.entries(request.filters).every(([name, value]) => FILTERS[entity]?.[name]?.(of, value, zone)),
  )
  const rules = {
    keysOf: (of: StoredRecord) => {
      const keys = [{ ...KEYS[entity], ...PROPERTIES[entity] }[group_by]?.(of, zone) ?? null].flat()
      return keys.length === 0 ? [null] : keys
    },
    hidesMissing: group_by === 'company_id',
    isTime: group_by === 'created_day',
  }
  const numbersOf = (of: StoredRecord) => {
    const number = numberTextIn(FIELDS[entity]?.[request.metric_field ?? '']?.(of))
    return number === null ? [] : [number]
  }
  const { buckets, total } = expectedResult(matching, rules, { ...request, numbersOf })
  expect({ buckets: body.buckets, total: body.total }, JSON.stringify(request)).toEqual({ buckets, total })
  expect(body).toMatchObject({ status: 'success', entity, group_by: request.group_by, metric: request.metric })
  const { warnings: _, ...shown } = body
  expect(Object.keys(shown).sort()).toEqual(['buckets', 'entity', 'group_by', 'metric', 'status', 'total'])
}

describe.each([
  ['contacts', CONTACT_DIMENSIONS],
  ['companies', COMPANY_DIMENSIONS],
])('%s', (entity, dimensions) => {
  const keys = Object.keys(KEYS[entity] ?? {})
  const properties = Object.keys(PROPERTIES[entity] ?? {})
  const filters = Object.keys(FILTERS[entity] ?? {})

  test('every dimension and filter is covered', () => {
    expect(keys.sort()).toEqual(Object.keys(dimensions).sort())
    expect(filters.sort()).toEqual(Object.keys(VALUES[entity]?.() ?? {}).sort())
  })

  test.each([...keys, ...properties])(
    'group_by %s agrees with the simple implementation, for every metric',
    async (group_by) => {
      await compare(entity, { group_by, metric: 'count', limit: 50, filters: {} })
      for (const [index, metric] of METRICS.entries()) {
        for (const limit of [2, 50]) {
          const time_zone = ZONES[index % ZONES.length]
          await compare(entity, { group_by, metric, metric_field: 'score', limit, filters: {}, time_zone })
        }
      }
    },
  )

  test.each(filters)('the filter %s agrees with the simple implementation', async (name) => {
    const values = VALUES[entity]?.()[name] ?? fc.constant(null)
    for (const value of fc.sample(values, { numRuns: 12, seed: 5 })) {
      await compare(entity, { group_by: 'country', metric: 'count', limit: 50, filters: { [name]: value } })
    }
  })

  test('random requests agree with the simple implementation', async () => {
    const values = VALUES[entity]?.() ?? {}
    const request = fc.record({
      group_by: fc.constantFrom(...keys, ...properties),
      metric: fc.constantFrom('count', ...METRICS),
      metric_field: fc.constantFrom(...Object.keys(FIELDS[entity] ?? {})),
      time_zone: fc.constantFrom(undefined, ...ZONES),
      limit: fc.constantFrom(1, 2, 25),
      filters: fc
        .subarray(filters, { maxLength: 2 })
        .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, values[name] ?? fc.constant(0)])))),
    })
    const property = fc.asyncProperty(request, async ({ metric_field, ...rest }) =>
      compare(entity, { ...rest, ...(rest.metric === 'count' ? {} : { metric_field }) }),
    )
    await fc.assert(property, { numRuns: 100, seed: 11 })
  })
})

test('a sum beyond the range of a double is null', async () => {
  const own = await createTestTenant(service)
  for (let n = 0; n < 3; n++) await own.contact(`huge${n}@example.com`, { score: 1.7e308 })
  const request = { entity: 'contacts', group_by: 'country', metric: 'sum', metric_field: 'score' }
  const { status, body } = await own.call('POST', '/v1/aggregate', request)
  expect([status, body.buckets]).toEqual([200, [{ key: null, value: null }]])
})
