import fc from 'fast-check'
import { toRecord } from '../src/journal/append.ts'
import { type EventRecord, JOURNAL_FORMAT, serializeEvents } from '../src/journal/event-record.ts'
import { newId } from '../src/platform/ids.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../src/platform/time.ts'
import type { TestService, TestTenant } from './service.ts'

/*
 * Random conditions, and a naive reference for what they mean. It shares no code with the service, so that the two can
 * differ.
 */

export const NOW = new Date('2026-03-10T12:00:00.000Z')

export interface Person {
  contactId: string
  email: string | null
  properties: Record<string, unknown>
  company: Company | null
  createdAt: Date
  events: Visit[]
}

export interface Company {
  companyId: string
  name: string
  domain: string | null
  properties: Record<string, unknown>
}

export interface Visit {
  id: string
  event: string
  text: string
  url: string
  class: string
  element_id: string
  browser: string
  is_bot: boolean
  data: Record<string, unknown>
  at: number
  isSystem: boolean
}

/** A company with its contacts, whose events are its own. */
export interface Staff extends Company {
  createdAt: Date
  contacts: number
  events: Visit[]
}

/** Whoever a filter is about. */
type Subject = Person | Staff

/** A condition as a caller sends it. */
// biome-ignore lint/suspicious/noExplicitAny: random JSON, of which the reference reads what it needs
export type Sent = any

/** Few distinct values, so that conditions match about half the time. */
export const TEXTS = [
  '',
  'a',
  'A',
  'Straße',
  '100%',
  'a_b',
  'axb',
  '\\',
  "it's {x: String}",
  '5',
  ' 7.50 ',
  '1e3',
  '2026-03-01',
  '"',
  'line\nbreak\t',
  '日本',
]
const TIMES = ['2026-03-01', '2026-03-01T23:59:59.999Z', '2026-03-10T12:00:00Z', '2026-03-11 01:00+02:00', '2026-02-30']
const KEYS = ['plan', 'score', 'seen', 'tags', 'constructor', 'x" - \'y', 'segment', 'company.name']
const scalars = fc.oneof(
  fc.constantFrom(...TEXTS, ...TIMES),
  fc.constantFrom(0, 5, -1, 7.5, 1e-7, 900, 1e21),
  fc.boolean(),
)
const values = fc.oneof(
  { weight: 4, arbitrary: scalars },
  { weight: 1, arbitrary: fc.array(scalars, { maxLength: 3 }) },
)
const moments = fc.constantFrom(0, 1, 30 * MINUTE_MS, DAY_MS - 1, DAY_MS, DAY_MS + 1, 9 * DAY_MS, 40 * DAY_MS)

/** Also names of the prototype, which plain assignment would lose. */
const datas: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    fc.dictionary(
      fc.constantFrom('plan', 'a.b', 'back\\slash', '__proto__', 'seen'),
      fc.oneof(values, fc.constant(null)),
    ),
    fc.option(
      fc.record({
        total: fc.oneof(fc.constantFrom(5, 7.5, 0.1, 0.2), fc.constantFrom('5', ' 7.50 ', 'a')),
        items: fc.array(fc.record({ sku: values }, { requiredKeys: [] }), { maxLength: 3 }),
      }),
      { nil: undefined },
    ),
  )
  .map(([data, order]) => JSON.parse(JSON.stringify(order === undefined ? data : { ...data, order })))

export const visits: fc.Arbitrary<Visit> = fc.record({
  id: fc.constant('').map(() => newId()),
  event: fc.constantFrom('page_view', 'button_click', 'contact_updated'),
  text: fc.constantFrom('', 'Buy', 'buy now', 'Straße 5%', '7'),
  url: fc.constantFrom('', 'https://x.example/Pricing', 'https://x.example/pricing?a_b=1'),
  class: fc.constantFrom('', 'btn btn-primary', 'BTN'),
  element_id: fc.constantFrom('', 'cta', 'CTA'),
  browser: fc.constantFrom('', 'Chrome', 'Safari'),
  is_bot: fc.boolean(),
  data: datas,
  at: moments.map((ago) => NOW.getTime() - ago),
  isSystem: fc.boolean(),
})

export const COMPANIES: readonly Company[] = [
  {
    companyId: newId(),
    name: 'Alpha',
    domain: 'alpha.example',
    properties: { industry: 'Steel', plan: 'a', score: 5 },
  },
  { companyId: newId(), name: 'Beta', domain: null, properties: { industry: ['Wool', 'Steel'], score: '7.5' } },
]

export const people: fc.Arbitrary<Person> = fc.record({
  contactId: fc.constant('').map(() => newId()),
  email: fc.option(fc.constant('').map(() => `${newId()}@Example.com`.toLowerCase())),
  properties: fc.dictionary(fc.constantFrom(...KEYS), values, { noNullPrototype: true }),
  company: fc.constantFrom(null, ...COMPANIES),
  createdAt: moments.map((ago) => new Date(NOW.getTime() - ago)),
  events: fc.array(visits, { maxLength: 5 }),
})

export const companies: fc.Arbitrary<Company> = fc.record({
  companyId: fc.constant('').map(() => newId()),
  name: fc.constantFrom('Alpha', 'alpha', 'Beta', 'Straße'),
  domain: fc.option(fc.constant('').map(() => `${newId()}.example`)),
  properties: fc.dictionary(fc.constantFrom(...KEYS, 'contact_count'), values, { noNullPrototype: true }),
})

/** People of some companies, or of none. */
export const peopleOf = (some: readonly Company[]): fc.Arbitrary<Person> =>
  fc.tuple(people, fc.constantFrom(null, ...some)).map(([person, company]) => ({ ...person, company }))

/** A company with those of some people who are in it. */
export function staffOf(company: Company, persons: readonly Person[]): Staff {
  const contacts = persons.filter((person) => person.company?.companyId === company.companyId)
  return { ...company, createdAt: NOW, contacts: contacts.length, events: contacts.flatMap(({ events }) => events) }
}

export const OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'in',
  'not_in',
  'is_set',
  'is_not_set',
  'gt',
  'gte',
  'lt',
  'lte',
  'before',
  'after',
  'within_days',
] as const

const texts = fc.constantFrom(...TEXTS.filter((text) => text !== ''))
export const valueFor = (operator: string): fc.Arbitrary<unknown> => {
  if (/contains$|_with$/.test(operator)) return texts
  if (operator === 'in' || operator === 'not_in') return fc.array(scalars, { minLength: 1, maxLength: 4 })
  if (['gt', 'gte', 'lt', 'lte'].includes(operator)) return fc.constantFrom(0, 5, 7.5, '5', ' 7.50 ', 1e-7)
  if (operator === 'before' || operator === 'after') return fc.constantFrom(...TIMES.slice(0, 4))
  return operator === 'within_days' ? fc.constantFrom(1, 9, 40) : scalars
}

const on = (properties: readonly string[], operators: readonly string[] = OPERATORS) =>
  fc.constantFrom(...operators).chain((operator) =>
    fc.record({
      property: fc.constantFrom(...properties),
      operator: fc.constant(operator),
      value: valueFor(operator),
    }),
  )
const TEXT_OPERATORS = OPERATORS.slice(0, 10)

const onProperty = on(KEYS.map((key) => (key === 'segment' || key === 'company.name' ? `properties.${key}` : key)))
const onCompany = fc.oneof(
  on(['company.industry', 'company.plan', 'company.score', 'company.properties.industry', 'company.none']),
  fc.record({
    property: fc.constantFrom('company.name', 'company.domain'),
    operator: fc.constantFrom(...TEXT_OPERATORS.filter((operator) => !/in$/.test(operator))),
    value: fc.constantFrom('Alpha', 'alpha', 'a', 'alpha.example', 'Beta'),
  }),
)
const onColumn = fc.oneof(
  on(['created_at'], ['before', 'after', 'within_days', 'is_set']),
  fc.record({
    property: fc.constantFrom('company_id', 'email', 'creation_source'),
    operator: fc.constantFrom(...TEXT_OPERATORS.filter((operator) => !/in$/.test(operator))),
    value: fc.constantFrom(
      ...COMPANIES.flatMap(({ companyId }) => [companyId, companyId.toUpperCase()]),
      'EXAMPLE',
      'manual',
      'not-an-id',
    ),
  }),
)

const ofData = ['data.plan', 'data.order.total', 'data.order.items.sku', 'data.a\\.b', 'data.back\\\\slash', 'data.__proto__', 'data.seen', 'data.none', 'data.order'] // biome-ignore format: a list
const onEventValue = fc.oneof(
  { weight: 4, arbitrary: on(ofData) },
  { weight: 2, arbitrary: on(['text', 'url', 'browser', 'event_type', 'event', 'nonsense']) },
  { weight: 1, arbitrary: on(['timestamp'], ['before', 'after', 'within_days', 'is_set']) },
  { weight: 1, arbitrary: on(['is_bot'], ['equals', 'not_equals', 'is_set', 'in', 'not_in']) },
)
const onOwner = fc.oneof(on(['contact.plan', 'contact.score']), on(['company.industry', 'company.score']))

const { condition: nestedOnEvent } = fc.letrec((tie) => ({
  condition: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    onEventValue,
    fc.record({ match: fc.constantFrom('all', 'any'), conditions: fc.array(tie('condition'), { maxLength: 3 }) }),
  ),
}))

const measures = fc.constantFrom('sum', 'avg', 'min', 'max', 'distinct', 'first', 'last').chain((name) =>
  (name === 'first' || name === 'last'
    ? on([...ofData, 'text'])
    : fc.record({
        property: fc.constantFrom(...ofData, 'text'),
        operator: fc.constantFrom('equals', 'not_equals', 'gt', 'gte', 'lt', 'lte', 'is_set', 'is_not_set'),
        value: fc.constantFrom(0, 1, 2, 5, 7.5, 12.5, 0.3),
      })
  ).map((compared) => ({ function: name, ...compared })),
)

const single = {
  type: fc.constantFrom('page_view', 'contact_updated'),
  types: fc.subarray(['page_view', 'button_click', 'contact_updated'], { minLength: 1 }),
  text: fc.constantFrom('Buy', 'buy'),
  text_contains: fc.constantFrom('BUY', 'straße', '%'),
  url_contains: fc.constantFrom('PRICING', '_'),
  class_contains: fc.constantFrom('btn', '{x: String}'),
  element_id: fc.constantFrom('cta'),
  where: fc.array(fc.oneof({ weight: 4, arbitrary: nestedOnEvent }, { weight: 1, arbitrary: onOwner }), {
    maxLength: 2,
  }),
  within_days: fc.constantFrom(1, 9),
  after: fc.constantFrom('2026-03-01', '2026-03-09T12:00:00Z'),
  before: fc.constantFrom('2026-03-09', '2026-03-10T11:59:59.999Z'),
}
const of = <Names extends keyof typeof single>(...names: Names[]) =>
  Object.fromEntries(names.map((name) => [name, single[name]]))
const counts = fc.record({
  operator: fc.constantFrom('equals', 'not_equals', 'gt', 'gte', 'lt', 'lte'),
  value: fc.constantFrom(0, 1, 2),
})
const operators = fc.constantFrom('did', 'did_not')
const onEvent = fc.oneof(
  fc.record({
    event: fc.record({ ...single, min_count: fc.constantFrom(1, 2) }, { requiredKeys: [] }),
    operator: operators,
  }),
  fc.record({
    event: fc.record({ ...of('type', 'where', 'before'), count: counts, measure: measures }, { requiredKeys: [] }),
    operator: operators,
  }),
  fc.record({
    event: fc.record({ measure: measures, ...of('where') }, { requiredKeys: ['measure'] }),
    operator: operators,
  }),
)
const onSequence = fc.record({
  sequence: fc.array(fc.record(of('type', 'types', 'where', 'text'), { requiredKeys: [] }), {
    minLength: 2,
    maxLength: 4,
  }),
  within: fc.constantFrom(
    { value: 1, unit: 'minute' },
    { value: 1, unit: 'hour' },
    { value: 1, unit: 'day' },
    { value: 2, unit: 'week' },
  ),
  operator: operators,
})

/** Filters of contacts. */
export const { filter: filters } = fc.letrec<{ filter: Sent; condition: Sent }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    onProperty,
    onCompany,
    onColumn,
    onEvent,
    onSequence,
    tie('filter'),
  ),
  filter: fc.record({
    match: fc.constantFrom('all', 'any'),
    conditions: fc.array(tie('condition'), { maxLength: 4 }),
  }),
}))

const onStaff = fc.oneof(
  on(['plan', 'score', 'tags', 'properties.segment', 'properties.contact_count', 'none']),
  fc.record({
    property: fc.constantFrom('name', 'domain'),
    operator: fc.constantFrom(...TEXT_OPERATORS.filter((operator) => !/in$/.test(operator))),
    value: fc.constantFrom('Alpha', 'alpha', 'EXAMPLE', 'Straße'),
  }),
  fc.record({
    property: fc.constant('contact_count'),
    operator: fc.constantFrom('equals', 'not_equals', 'gt', 'gte', 'lt', 'lte', 'is_set', 'is_not_set'),
    value: fc.constantFrom(0, 1, 4, 5),
  }),
  on(['created_at'], ['before', 'after', 'within_days', 'is_set']),
)

/** Of the events of companies, the contacts are not compared. */
const withoutOwners = (sent: Sent): Sent =>
  JSON.parse(JSON.stringify(sent), (key, value) =>
    key === 'where'
      ? value.filter(({ property = '' }: { property?: string }) => !/^(contact|company)\./.test(property))
      : value,
  )

/** Filters of companies. */
export const { filter: companyFilters } = fc.letrec<{ filter: Sent; condition: Sent }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    onStaff,
    onEvent.map(withoutOwners),
    onSequence.map(withoutOwners),
    tie('filter'),
  ),
  filter: fc.record({
    match: fc.constantFrom('all', 'any'),
    conditions: fc.array(tie('condition'), { maxLength: 4 }),
  }),
}))

/** Conditions on one event. */
export const wheres: fc.Arbitrary<Sent[]> = fc.array(
  fc.oneof({ weight: 5, arbitrary: nestedOnEvent }, { weight: 1, arbitrary: onOwner }),
  { maxLength: 3 },
)

export async function loadCompanies({ handle }: TestTenant, some: readonly Company[] = COMPANIES): Promise<void> {
  const rows = some.map(({ companyId, name, domain, properties }) => {
    const company = { company_id: companyId, name, domain, properties: JSON.stringify(properties) }
    return { ...company, created_at: NOW, updated_at: NOW }
  })
  await handle.db.insertInto('companies').values(rows).execute()
}

/** Stores people with their events; their companies are there already. */
export async function loadPeople(service: TestService, tenant: TestTenant, persons: readonly Person[]): Promise<void> {
  const rows = persons.map(({ contactId, email, properties, company, createdAt }) => ({
    contact_id: contactId,
    email,
    properties: JSON.stringify(properties),
    company_id: company?.companyId ?? null,
    creation_source: 'manual',
    first_seen_at: createdAt,
    created_at: createdAt,
    updated_at: createdAt,
  }))
  await tenant.handle.db.insertInto('contacts').values(rows).execute()
  await loadEvents(service, tenant, persons)
}

export async function loadEvents(
  { stores }: TestService,
  { id: tenantId }: TestTenant,
  persons: readonly Person[],
): Promise<void> {
  const records = persons.flatMap(({ contactId, events }) =>
    events.map(
      ({ id, at, isSystem, data, ...visit }): EventRecord => ({
        ...toRecord(tenantId, { event: 'contact_updated', at: new Date(at), contactId, data: {} }),
        ...visit,
        event_id: id,
        data: JSON.stringify(data),
        is_system: isSystem,
      }),
    ),
  )
  if (records.length > 0) await stores.clickhouse.insert('events', JOURNAL_FORMAT, serializeEvents(records), newId())
}

/** Whether a contact or a company matches a filter. */
export function belongs(filter: Sent, person: Subject): boolean {
  const isMet = (condition: Sent): boolean => {
    if ('conditions' in condition) return belongs(condition, person)
    if ('event' in condition) return did(condition.event, person) === (condition.operator === 'did')
    if ('sequence' in condition) return followed(condition, person) === (condition.operator === 'did')
    return holds(ofPerson(person, condition.property), condition, condition.property)
  }
  return filter.match === 'all' ? filter.conditions.every(isMet) : filter.conditions.some(isMet)
}

/** Whether an event meets conditions, all of them. */
export function eventMeets(where: readonly Sent[], visit: Visit, person: Subject | null): boolean {
  return where.every((condition) => {
    if (!('conditions' in condition))
      return holds(ofEvent(visit, person, condition.property), condition, condition.property)
    const met = condition.conditions.map((each: Sent) => eventMeets([each], visit, person))
    return condition.match === 'all' ? met.every(Boolean) : met.some(Boolean)
  })
}

function ofPerson(person: Subject, name: string): unknown[] {
  if (name === 'created_at') return [person.createdAt.toISOString()]
  if ('contacts' in person) return ofStaff(person, name)
  const { company } = person
  if (name === 'company.name') return listed(company?.name)
  if (name === 'company.domain') return listed(company?.domain)
  if (name.startsWith('company.')) return listed(own(company?.properties ?? {}, bare(name.slice('company.'.length))))
  if (name === 'email') return listed(person.email)
  if (name === 'company_id') return listed(company?.companyId)
  if (name === 'creation_source') return ['manual']
  return listed(own(person.properties, bare(name)))
}

function ofStaff({ contacts, name: called, domain, properties }: Staff, name: string): unknown[] {
  if (name === 'contact_count') return [contacts]
  if (name === 'name') return [called]
  if (name === 'domain') return listed(domain)
  return listed(own(properties, bare(name)))
}

const bare = (name: string) => name.replace(/^properties\./, '')

function ofEvent(visit: Visit, person: Subject | null, name: string): unknown[] {
  if (name.startsWith('contact.')) return person ? ofPerson(person, name.slice('contact.'.length)) : []
  if (name.startsWith('company.')) return person ? ofPerson(person, name) : []
  if (name.startsWith('data.')) {
    const keys = name
      .slice('data.'.length)
      .split(/(?<!\\)\./)
      .map((key) => key.replace(/\\([.\\])/g, '$1'))
    return keys.reduce<unknown[]>(
      (found, key) =>
        found.flatMap((each) =>
          listed(typeof each === 'object' && each !== null && !Array.isArray(each) ? own(each, key) : null),
        ),
      [visit.data],
    )
  }
  if (name === 'timestamp') return [new Date(visit.at).toISOString()]
  if (name === 'is_bot') return [visit.is_bot]
  const column = name === 'event_type' ? 'event' : name
  const text = own(visit, column)
  return ['event', 'text', 'url', 'browser'].includes(column) && text !== '' ? [text] : []
}

function own(record: object, key: string): unknown {
  return Object.hasOwn(record, key) ? (record as Record<string, unknown>)[key] : undefined
}

function listed(value: unknown): unknown[] {
  return (Array.isArray(value) ? value : [value]).filter((each) => each !== undefined && each !== null)
}

function holds(items: readonly unknown[], { operator, value }: Sent, property = ''): boolean {
  if (operator.startsWith('not_')) return !holds(items, { operator: operator.slice(4), value }, property)
  if (operator === 'is_not_set') return !holds(items, { operator: 'is_set' }, property)
  // Stored in one spelling.
  const spelled = (text: unknown) =>
    typeof text === 'string' && ['email', 'company_id', 'company.domain', 'domain'].includes(property)
      ? text.toLowerCase()
      : text
  const text = (item: unknown) => (typeof item === 'object' ? '' : String(item)).toLowerCase()
  const part = String(value).toLowerCase()
  switch (operator) {
    case 'equals':
      return items.some((item) => item === spelled(value))
    case 'in':
      return items.some((item) => value.map(spelled).includes(item))
    case 'contains':
      return items.some((item) => text(item).includes(part))
    case 'starts_with':
      return items.some((item) => text(item).startsWith(part))
    case 'ends_with':
      return items.some((item) => text(item).endsWith(part))
    case 'is_set':
      return items.some(
        (item) => item !== '' && !(typeof item === 'object' && Object.keys(item as object).length === 0),
      )
    case 'gt':
      return items.some((item) => numberIn(item) > Number(value))
    case 'gte':
      return items.some((item) => numberIn(item) >= Number(value))
    case 'lt':
      return items.some((item) => numberIn(item) < Number(value))
    case 'lte':
      return items.some((item) => numberIn(item) <= Number(value))
    case 'before':
      return items.some((item) => momentIn(item) <= momentIn(value, DAY_MS - 1))
    case 'after':
      return items.some((item) => momentIn(item) >= momentIn(value))
    case 'within_days':
      return items.some((item) => momentIn(item) <= NOW.getTime() && momentIn(item) >= NOW.getTime() - value * DAY_MS)
    default:
      throw new Error(`The reference does not know ${operator}.`)
  }
}

function numberIn(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$/.test(value) ? Number(value) : Number.NaN
}

/** The moment in a text that is one of `TIMES`. @param later what is added to a date alone. */
function momentIn(value: unknown, later = 0): number {
  if (typeof value !== 'string' || value === '2026-02-30') return Number.NaN
  if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return Date.parse(`${value}T00:00:00Z`) + later
  return /^\d{4}-\d{2}-\d{2}[T ]/.test(value) ? Date.parse(value.replace(' ', 'T')) : Number.NaN
}

function matching(match: Sent, person: Subject): Visit[] {
  const contains = (text: string, part: string | undefined) =>
    part === undefined || text.toLowerCase().includes(part.toLowerCase())
  const named = [match.type, ...(match.types ?? [])]
  return person.events.filter(
    (visit) =>
      (named.includes('contact_updated') || !visit.isSystem) &&
      (match.type === undefined || visit.event === match.type) &&
      (match.types === undefined || match.types.includes(visit.event)) &&
      (match.text === undefined || visit.text === match.text) &&
      contains(visit.text, match.text_contains) &&
      contains(visit.url, match.url_contains) &&
      contains(visit.class, match.class_contains) &&
      (match.element_id === undefined || visit.element_id === match.element_id) &&
      eventMeets(match.where ?? [], visit, person) &&
      (match.within_days === undefined || visit.at >= NOW.getTime() - match.within_days * DAY_MS) &&
      (match.after === undefined || visit.at >= momentIn(match.after)) &&
      (match.before === undefined || visit.at <= momentIn(match.before, DAY_MS - 1)),
  )
}

function did(match: Sent, person: Subject): boolean {
  const found = matching(match, person).toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
  if (match.min_count !== undefined && found.length < match.min_count) return false
  if (match.count && !holds([found.length], match.count)) return false
  if (match.measure) return holds(measured(match.measure, found, person), match.measure)
  return match.count !== undefined || found.length >= (match.min_count ?? 1)
}

function measured({ function: name, property }: Sent, found: readonly Visit[], person: Subject): unknown[] {
  const lists = found.map((visit) => ofEvent(visit, person, property)).filter((list) => list.length > 0)
  if (name === 'first') return lists[0] ?? []
  if (name === 'last') return lists.at(-1) ?? []
  if (name === 'distinct') return [new Set(lists.flat().map((item) => JSON.stringify(item))).size]
  const numbers = lists
    .flat()
    .map(numberIn)
    .filter((number) => !Number.isNaN(number))
  if (numbers.length === 0) return []
  if (name === 'min') return [Math.min(...numbers)]
  if (name === 'max') return [Math.max(...numbers)]
  const sum = Number(numbers.reduce((before, number) => before + number, 0).toPrecision(15))
  return [name === 'sum' ? sum : sum / numbers.length]
}

const UNITS: Record<string, number> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS }

/** Tries every way to do the steps with different events. */
function followed({ sequence, within }: Sent, person: Subject): boolean {
  const steps: Visit[][] = sequence.map((match: Sent) => matching(match, person))
  const window = within.value * (UNITS[within.unit] ?? Number.NaN)
  const goOn = (step: number, used: readonly Visit[]): boolean => {
    if (step === steps.length) return true
    return (steps[step] ?? []).some((visit) => {
      const [first, last] = [used[0] ?? visit, used.at(-1) ?? visit]
      const fits = !used.includes(visit) && visit.at >= last.at && visit.at - first.at <= window
      return fits && goOn(step + 1, [...used, visit])
    })
  }
  return goOn(0, [])
}
