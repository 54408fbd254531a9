import { loadCompanies } from '../companies/sample-companies.ts'
import { loadContacts, loadVisitors, setSeenBefore } from '../contacts/sample-contacts.ts'
import type { EventRecord } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { reevaluateSegments } from '../segments/segments.ts'
import { appendRecords } from '../webhooks/append.ts'
import { type SampleVisitor, sampleSession, sampleTimestamp, sampleVisitor } from './journeys.ts'
import { type SampleCompany, sampleCompany, sampleContact } from './people.ts'
import { sampleProductUse } from './product-use.ts'
import { createRandom, type Random } from './random.ts'
import { storyUntil } from './story.ts'

export interface SeedOptions {
  contacts: number
  companies: number
  /** Whether contacts are linked to their companies. If not, enrichment finds them by the addresses. */
  isLinked?: boolean
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

const SOURCE = 'import'
const ROWS_PER_STATEMENT = 500
const EVENTS_PER_ROW = 5_000
/** Share of contacts who visited the site; the others were imported or entered by hand. */
const CONTACTS_WITH_VISITS = 0.6
const ANONYMOUS_VISITORS_PER_CONTACT = 3
/** Of the visits, how many the launch brings, if the events reach back to it. */
const LAUNCH_SHARE = 0.05
const DAYS_WITH_LAUNCH = 50
const LAUNCH_REFERRER = 'https://news.example/stories/launch'

/**
 * Fills a tenant with sample companies, contacts and visits. Events go through the journal like all events.
 * @returns the number of each, and the contacts.
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
  return { companies: companies.length, contacts: contactIds.length, contactIds, events }
}

type StoredCompany = SampleCompany & { companyId: string | null }

async function seedCompanies(
  tenant: Tenant,
  random: Random,
  { companies, now }: SeedOptions,
): Promise<StoredCompany[]> {
  const created: StoredCompany[] = []
  const samples = Array.from({ length: companies }, (_, number) => sampleCompany(random, number))
  for (const chunk of chunks(samples, ROWS_PER_STATEMENT)) {
    const idByDomain = await loadCompanies(tenant, chunk, now)
    created.push(...chunk.map((company) => ({ ...company, companyId: idByDomain.get(company.domain) ?? null })))
  }
  return created
}

async function seedContacts(
  tenant: Tenant,
  random: Random,
  companies: StoredCompany[],
  { contacts, isLinked = true, days, now }: SeedOptions,
): Promise<string[]> {
  const ids: string[] = []
  const numbers = Array.from({ length: contacts }, (_, number) => number)
  for (const chunk of chunks(numbers, ROWS_PER_STATEMENT)) {
    const rows = chunk.map((number) => {
      const company = companies.length > 0 && random.chance(0.9) ? random.pick(companies) : undefined
      const { email, properties } = sampleContact(random, number, company)
      const at = new Date(sampleTimestamp(random, now.getTime(), days))
      return { contactId: newId(), email, properties, companyId: isLinked ? (company?.companyId ?? null) : null, at }
    })
    ids.push(...(await loadContacts(tenant, SOURCE, rows)))
  }
  return ids
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
  for (const chunk of chunks(visitors, ROWS_PER_STATEMENT)) await loadVisitors(tenant, SOURCE, chunk, now)
  return visitors
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
  const story = storyUntil(now)
  while (created < events) {
    const visitor = random.pick(visitors)
    const isOfLaunch = days > DAYS_WITH_LAUNCH && random.chance(LAUNCH_SHARE)
    const start = isOfLaunch ? story.sampleLaunchVisit(random) : sampleTimestamp(random, now.getTime(), days)
    const occasion = { day: story.on(start), ...(isOfLaunch ? { referrer: LAUNCH_REFERRER } : {}) }
    const visit = sampleSession(random, tenant.id, site, visitor, start, occasion)
    const signedUp = visit.find(({ event, timestamp }) => event === 'signed_up' && timestamp <= now.getTime())
    if (signedUp) visitor.hasAccount = true
    const use = signedUp
      ? sampleProductUse(random, tenant.id, site, visitor, { signedUpAt: signedUp.timestamp, now: now.getTime() })
      : []
    const wanted = [...visit, ...use.flat()]
      .filter((event) => event.timestamp <= now.getTime())
      .slice(0, events - created)
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
  for (const [contactId, timestamp] of firstSeen) await setSeenBefore(tenant, contactId, new Date(timestamp))
  return created
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}
