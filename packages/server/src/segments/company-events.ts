import { isCompany } from '../companies/filter-fields.ts'
import { nextCompanyIds } from '../companies/pages.ts'
import type { EventQuestion } from '../conditions/language.ts'
import { newestOfEach } from '../contacts/of-companies.ts'
import { conditionsOf } from '../events/conditions.ts'
import { countOwners } from '../owners/owners.ts'
import type { Tenant } from '../platform/tenant.ts'
import { askEach, BeyondBounds, type ConditionResult, EventResults, inGroups, isOwn } from './events.ts'

/*
 * Conditions on the events of a company: those of its contacts together. PostgreSQL knows who they are, so they are sent
 * with the query, which sums up their events for each company.
 */

/** Companies whose contacts are in memory at once. */
export const COMPANIES_AT_ONCE = 100
/** The owners of events in one query: with their ids, it still is a statement that embedded ClickHouse runs beside others. */
const OWNERS_AT_ONCE = 1_500
/** Of a company with more contacts, or more visitors, the newest contacts count: a query can name no more. */
const CONTACTS_MAX = 10_000
const OWNERS_MAX = 15_000

interface Bounds {
  secondsMax: number
}

/** Queries ClickHouse for all event conditions of some companies. */
export async function queryEventsOfCompanies(
  tenant: Tenant,
  matches: readonly EventQuestion[],
  companyIds: readonly string[],
  now: Date,
): Promise<EventResults> {
  const results = new EventResults(isCompany)
  await addResults(tenant, results, matches, companyIds, now)
  return results
}

/** The same for all companies of the tenant. @throws BeyondBounds if it takes too long. */
export async function queryEventsOfAllCompanies(
  tenant: Tenant,
  matches: readonly EventQuestion[],
  now: Date,
  { secondsMax }: Bounds,
): Promise<EventResults> {
  const results = new EventResults(isCompany)
  const startedAt = performance.now()
  for (let after: string | undefined; ; ) {
    const ids = await nextCompanyIds(tenant, {}, after, COMPANIES_AT_ONCE)
    await addResults(tenant, results, matches, ids, now)
    if (ids.length < COMPANIES_AT_ONCE) return results
    if (performance.now() - startedAt > secondsMax * 1_000) throw new BeyondBounds()
    after = ids.at(-1)
  }
}

async function addResults(
  tenant: Tenant,
  results: EventResults,
  matches: readonly EventQuestion[],
  companyIds: readonly string[],
  now: Date,
): Promise<void> {
  for (const match of matches) results.add(match, [])
  if (matches.length === 0) return
  for (const part of await queryableParts(tenant, companyIds)) {
    for (const group of inGroups(matches.filter(isOwn))) {
      const rows = await tenant.events.select<CompanyResult>(await queryOf(tenant, group, part, now))
      for (const [index, match] of group.entries()) {
        results.add(
          match,
          rows.filter(({ hits }) => hits[index] === '1').map((row) => row.company_id),
        )
      }
    }
  }
}

/** A company, with the same as for a contact. */
type CompanyResult = Pick<ConditionResult, 'hits'> & { company_id: string }

/** Contacts with the company of each. */
export type Members = [contactId: string, companyId: string][]

/** What a query about the events of companies says of them: whose events, the company of a contact, and which contacts. */
export async function asCompanies(tenant: Tenant, members: Members) {
  const contactIds = members.map(([contactId]) => contactId)
  const { where, parameters } = await conditionsOf(tenant, { contact_ids: contactIds, includeSystem: true })
  const companies = { members: contactIds, companies: members.map(([, companyId]) => companyId) }
  return {
    owners: { where, parameters: { ...parameters, ...companies } },
    id: {
      sql: "transform(toString(contact_id), {members: Array(String)}, {companies: Array(String)}, '')",
      name: 'company_id',
    },
    where: 'has({members: Array(String)}, toString(contact_id))',
  }
}

async function queryOf(tenant: Tenant, group: readonly EventQuestion[], members: Members, now: Date) {
  const query = await askEach(tenant, group, now, await asCompanies(tenant, members))
  // A query of listed contacts may be part of a check, which occupies a connection to PostgreSQL at the same time.
  return { ...query, name: 'segments.events_of_companies', lane: 'light' as const }
}

/** The contacts of some companies in parts whose owners fit into one query, each company whole. */
export async function queryableParts(tenant: Tenant, companyIds: readonly string[]): Promise<Members[]> {
  const byCompany = await newestOfEach(tenant, companyIds, CONTACTS_MAX)
  const ownersOf = await countOwners(tenant, [...byCompany.values()].flat())
  const parts: Members[] = []
  let owners = Number.POSITIVE_INFINITY
  for (const [companyId, contactIds] of byCompany) {
    const members: Members = []
    let own = 0
    for (const contactId of contactIds) {
      own += ownersOf(contactId)
      if (own > OWNERS_MAX) break
      members.push([contactId, companyId])
    }
    if (owners + own > OWNERS_AT_ONCE) {
      parts.push([])
      owners = 0
    }
    parts.at(-1)?.push(...members)
    owners += own
  }
  return parts.filter((part) => part.length > 0)
}
