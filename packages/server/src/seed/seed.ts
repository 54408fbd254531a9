import type { EventRecord } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { reevaluateSegments } from '../segments/segments.ts'
import { appendRecords } from '../webhooks/append.ts'
import { type SampleVisitor, sampleSession, sampleTimestamp, sampleVisitor } from './journeys.ts'
import { type SampleCompany, sampleCompany, sampleContact } from './people.ts'
import { createRandom, type Random } from './random.ts'

export interface SeedOptions {
  contacts: number
  companies: number
  events: number
  /** How many days the events span, until now. */
  days: number
  /** The same seed gives the same data except for ids and times. */
  seed: number
  /** Host of the visited pages. */
  site: string
  now: Date
  onProgress: (message: string) => void
}

const ROWS_PER_STATEMENT = 500
const EVENTS_PER_ROW = 5_000
/** Share of contacts who visited the site; the others were imported or entered by hand. */
const CONTACTS_WITH_VISITS = 0.6
const ANONYMOUS_VISITORS_PER_CONTACT = 3

/**
 * Fills a tenant with sample companies, contacts and visits. Events go through the journal like all events.
 * @returns the number of each.
 */
export async function seedTenant(tenant: Tenant, options: SeedOptions) {
  const random = createRandom(options.seed)
  options.onProgress(`creating ${options.companies} companies and ${options.contacts} contacts`)
  const companies = await seedCompanies(tenant, random, options)
  const contactIds = await seedContacts(tenant, random, companies, options)
  options.onProgress(`creating ${options.events} events of the last ${options.days} days`)
  const visitors = await seedVisitors(tenant, random, contactIds, options)
  const events = await seedEvents(tenant, random, visitors, options)
  // Sample contacts are inserted directly, so segments are not updated and must be recounted.
  await reevaluateSegments(tenant)
  return { companies: companies.length, contacts: contactIds.length, events }
}

type StoredCompany = SampleCompany & { companyId: string }

async function seedCompanies(
  tenant: Tenant,
  random: Random,
  { companies, now }: SeedOptions,
): Promise<StoredCompany[]> {
  const created = Array.from({ length: companies }, (_, number) => ({
    ...sampleCompany(random, number),
    companyId: newId(),
  }))
  for (const chunk of chunks(created, ROWS_PER_STATEMENT)) {
    const rows = chunk.map(({ companyId, name, domain, properties }) => ({
      company_id: companyId,
      name,
      domain,
      properties,
      created_at: now,
      updated_at: now,
    }))
    await tenant.db
      .insertInto('companies')
      .values(rows)
      .onConflict((row) => row.columns(['domain']).doNothing())
      .execute()
  }
  // An existing domain keeps its company.
  const stored = await tenant.db.selectFrom('companies').select(['company_id', 'domain']).execute()
  const idByDomain = new Map(stored.map((row) => [row.domain, row.company_id]))
  return created.map((company) => ({ ...company, companyId: idByDomain.get(company.domain) ?? company.companyId }))
}

async function seedContacts(
  tenant: Tenant,
  random: Random,
  companies: StoredCompany[],
  { contacts, days, now }: SeedOptions,
): Promise<string[]> {
  const ids: string[] = []
  const numbers = Array.from({ length: contacts }, (_, number) => number)
  for (const chunk of chunks(numbers, ROWS_PER_STATEMENT)) {
    const rows = chunk.map((number) => {
      const company = companies.length > 0 && random.chance(0.9) ? random.pick(companies) : undefined
      const { email, properties } = sampleContact(random, number, company)
      const at = new Date(sampleTimestamp(random, now.getTime(), days))
      return { contactId: newId(), email, properties, companyId: company?.companyId ?? null, at }
    })
    const inserted = await tenant.db
      .insertInto('contacts')
      .values(rows.map(toContactRow))
      .onConflict((row) => row.columns(['email']).doNothing())
      .returning('contact_id')
      .execute()
    const fresh = new Set(inserted.map((row) => row.contact_id))
    const sources = rows.filter((row) => fresh.has(row.contactId)).map(toSourceRow)
    if (sources.length > 0) await tenant.db.insertInto('contact_sources').values(sources).execute()
    ids.push(...fresh)
  }
  return ids
}

interface ContactSeed {
  contactId: string
  email: string
  properties: Record<string, unknown>
  companyId: string | null
  at: Date
}

const SOURCE = 'import'

function toContactRow({ contactId, email, properties, companyId, at }: ContactSeed) {
  const entry = { source: SOURCE, updated_at: at.toISOString() }
  return {
    contact_id: contactId,
    email,
    properties: JSON.stringify(properties),
    properties_provenance: Object.fromEntries(['email', ...Object.keys(properties)].map((key) => [key, entry])),
    company_id: companyId,
    creation_source: SOURCE,
    first_seen_at: at,
    created_at: at,
    updated_at: at,
  }
}

function toSourceRow({ contactId, email, properties, at }: ContactSeed) {
  const updated_at = at.toISOString()
  const values = Object.entries({ email, ...properties })
  return {
    contact_id: contactId,
    source: SOURCE,
    kind: SOURCE,
    fields: JSON.stringify(Object.fromEntries(values.map(([key, value]) => [key, { value, updated_at }]))),
    first_seen_at: at,
    updated_at: at,
  }
}

async function seedVisitors(
  tenant: Tenant,
  random: Random,
  contactIds: string[],
  { now }: SeedOptions,
): Promise<SampleVisitor[]> {
  const known = contactIds.filter(() => random.chance(CONTACTS_WITH_VISITS)).map((id) => sampleVisitor(random, id))
  const anonymous = Array.from({ length: Math.max(20, known.length * ANONYMOUS_VISITORS_PER_CONTACT) }, () =>
    sampleVisitor(random, null),
  )
  const visitors = [...known, ...anonymous]
  for (const chunk of chunks(visitors, ROWS_PER_STATEMENT)) {
    const rows = chunk.map(({ visitorId, contactId }) => ({
      visitor_id: visitorId,
      contact_id: contactId,
      created_at: now,
    }))
    await tenant.db.insertInto('visitors').values(rows).execute()
    const links = chunk.filter(({ contactId }) => contactId !== null).map((visitor) => toLink(visitor, now))
    if (links.length > 0) await tenant.db.insertInto('identity_links').values(links).execute()
  }
  return visitors
}

function toLink({ visitorId, contactId }: SampleVisitor, now: Date) {
  return { link_id: newId(), visitor_id: visitorId, contact_id: contactId, source: SOURCE, linked_at: now }
}

async function seedEvents(
  tenant: Tenant,
  random: Random,
  visitors: SampleVisitor[],
  { events, days, site, now, onProgress }: SeedOptions,
): Promise<number> {
  let waiting: EventRecord[] = []
  let created = 0
  const firstSeen = new Map<string, number>()
  while (created < events) {
    const start = sampleTimestamp(random, now.getTime(), days)
    const session = sampleSession(random, tenant.id, site, random.pick(visitors), start)
    const wanted = session.filter((event) => event.timestamp <= now.getTime()).slice(0, events - created)
    waiting.push(...wanted)
    for (const { owner_id, timestamp } of wanted) {
      firstSeen.set(owner_id, Math.min(timestamp, firstSeen.get(owner_id) ?? timestamp))
    }
    created += wanted.length
    if (waiting.length < EVENTS_PER_ROW && created < events) continue
    await appendRecords(tenant, waiting)
    waiting = []
    if (created % 100_000 < EVENTS_PER_ROW && created > EVENTS_PER_ROW) onProgress(`${created} of ${events} events`)
  }
  for (const [contactId, timestamp] of firstSeen) {
    const first_seen_at = new Date(timestamp)
    await tenant.db
      .updateTable('contacts')
      .set({ first_seen_at })
      .where('contact_id', '=', contactId)
      .where('first_seen_at', '>', first_seen_at)
      .execute()
  }
  return created
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}
