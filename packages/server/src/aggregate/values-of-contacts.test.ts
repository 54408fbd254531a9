import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { expectedResult, itemsOf, type Key, numberTextIn } from '../../test/aggregation.ts'
import { seededRandom } from '../../test/seed.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { ChangeLog } from '../contacts/writing/transaction.ts'
import { METRICS } from '../figures/measure.ts'
import { EMPTY_RECORD, type EventRecord, JOURNAL_FORMAT, serializeEvents } from '../journal/event-record.ts'
import { linkOwners } from '../owners/link-owners.ts'
import { newId } from '../platform/ids.ts'
import { appendRecords } from '../webhooks/append.ts'

/** More than are copied by their ids. */
const CONTACTS = 6_000
const EVENTS = 8_000
const VALUES: unknown[] = [
  'pro', 'tab\tand "quote" \\ and \\t', 'line\nbreak', 'a\u2028b', '日本', 7, 7.5, 1e21, '7', true, false, null, '', [], [null],
  ['a', 'b', 'a', 7], ['', 'b'], { x: 1 },
] // biome-ignore format: a list

const random = seededRandom()
const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item

interface Person {
  contact_id: string
  company_id: string | null
  properties: Record<string, unknown>
}
const companies = Array.from({ length: 30 }, (_, n) => ({ company_id: newId(), properties: { industry: `I${n % 4}` } }))
const persons = Array.from({ length: CONTACTS }, (): Person => {
  const plan = anyOf(VALUES)
  const company = random() < 0.7 ? anyOf(companies) : null
  return {
    contact_id: newId(),
    company_id: company?.company_id ?? null,
    properties: { ...(random() < 0.9 ? { plan } : {}), tags: [anyOf(VALUES), anyOf(VALUES)].flat() },
  }
})
const episodes = persons.slice(0, 2_000).map((person) => ({ owner: newId(), person }))
/** Linked to another contact, as after a merge. */
const moved = persons.slice(0, 50).map(({ contact_id }, index) => ({ owner: contact_id, person: persons[index + 100] }))
const links = new Map([...episodes, ...moved].map(({ owner, person }) => [owner, person]))
const known = new Map(persons.map((person) => [person.contact_id, person]))
const strangers = Array.from({ length: 500 }, newId)

let service: TestService
let tenant: TestTenant
let records: EventRecord[]

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const { database, clickhouse } = service.stores
  await sql`INSERT INTO companies (tenant_id, company_id, properties, created_at, updated_at)
    SELECT ${tenant.id}::uuid, company_id, properties, now(), now()
    FROM jsonb_to_recordset(${JSON.stringify(companies)}::jsonb) AS c (company_id uuid, properties jsonb)`.execute(
    database,
  )
  // The number 7 is written as 7.0 by some writers.
  const json = JSON.stringify(persons).replace(/"plan":7,/g, () => (random() < 0.5 ? '"plan":7.0,' : '"plan":7,'))
  await sql`INSERT INTO contacts (tenant_id, contact_id, company_id, properties, creation_source, first_seen_at, created_at, updated_at)
    SELECT ${tenant.id}::uuid, contact_id, company_id, properties, 'import', now(), now(), now()
    FROM jsonb_to_recordset(${json}::jsonb) AS c (contact_id uuid, company_id uuid, properties jsonb)`.execute(database)
  await tenant.handle.transaction(async (tx) => {
    const log = new ChangeLog()
    for (const [owner, person] of links) await linkOwners(tx, log, [owner], person?.contact_id ?? '')
    await appendRecords(tx, [], log.ownerLinks)
  })
  const owners = [
    ...persons.map(({ contact_id }) => [contact_id, false] as const),
    ...episodes.map(({ owner }) => [owner, true] as const),
    ...strangers.map((owner) => [owner, true] as const),
  ]
  records = Array.from({ length: EVENTS }, (_, n): EventRecord => {
    const [owner_id, is_anonymous] = n < persons.length ? (owners[n] ?? ['', false]) : anyOf(owners)
    const own = { tenant_id: tenant.id, event_id: newId(), event: 'paid', owner_id, is_anonymous }
    const amount = anyOf([0.1, 0.2, 19.99, '5', null, 'x', [1, 2.5]])
    const times = { timestamp: Date.now(), received_at: Date.now() }
    const visitor_id = anyOf(['', `v${n % 900}`])
    return {
      ...EMPTY_RECORD,
      ...own,
      ...times,
      visitor_id,
      session_id: `s${n % 700}`,
      data: JSON.stringify({ amount }),
    }
  })
  await clickhouse.insert('events', JOURNAL_FORMAT, serializeEvents(records), newId())
})

const personOf = ({ owner_id }: EventRecord) => links.get(owner_id) ?? known.get(owner_id)
/** The JSON of an object is PostgreSQL's. */
const keyOf = (value: unknown) => (typeof value === 'object' ? '{"x": 1}' : (value as Key))
const keysOf = (value: unknown): Key[] => {
  const keys = itemsOf(value).filter((item) => item !== '')
  return keys.length === 0 ? [null] : keys.map(keyOf)
}
const KEYS: Record<string, (event: EventRecord) => Key[]> = {
  'contact.plan': (event) => keysOf(personOf(event)?.properties.plan),
  'contact.tags': (event) => keysOf(personOf(event)?.properties.tags),
  'company.industry': (event) =>
    keysOf(companies.find(({ company_id }) => company_id === personOf(event)?.company_id)?.properties.industry),
  company_id: (event) => keysOf(personOf(event)?.company_id),
}
const WHO: Record<string, (event: EventRecord) => string | null> = {
  unique_contacts: (event) => personOf(event)?.contact_id ?? null,
  unique_people: (event) => personOf(event)?.contact_id ?? event.owner_id,
  unique_visitors: ({ visitor_id }) => visitor_id || null,
  unique_sessions: ({ session_id }) => session_id || null,
}

test.each(Object.keys(KEYS))('every metric of many events by %s agrees with the simple implementation', async (by) => {
  for (const metric of METRICS) {
    const question = { entity: 'events', group_by: by, metric, metric_field: 'amount', limit: 50 }
    const { status, body } = await tenant.call('POST', '/v1/aggregate', question)
    expect([status, body.error]).toEqual([200, undefined])
    const rules = { keysOf: KEYS[by] ?? (() => []), hidesMissing: by === 'company_id', isTime: false }
    const numbersOf = ({ data }: EventRecord) =>
      itemsOf(JSON.parse(data).amount).flatMap((item) => numberTextIn(item) ?? [])
    const whoOf = (event: EventRecord) => WHO[metric]?.(event) ?? null
    const expected = expectedResult(records, rules, { metric, limit: 50, numbersOf, whoOf })
    const { total, distinct_groups } = body
    const buckets = body.buckets.map(({ key, value }: { key: Key; value: number | null }) => ({ key, value }))
    expect({ buckets, total, distinct_groups }, metric).toEqual(expected)
  }
})
