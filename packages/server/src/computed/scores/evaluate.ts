import { type RawBuilder, sql } from 'kysely'
import { companiesWith } from '../../companies/dimensions.ts'
import { COMPANY_KEY, isCompany } from '../../companies/filter-fields.ts'
import { eventsOf } from '../../conditions/language.ts'
import { compileFilter } from '../../conditions/to-postgres.ts'
import { conditionsMetBy } from '../../contacts/matching.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { COMPANIES_AT_ONCE, queryEventsOfCompanies } from '../../segments/company-events.ts'
import { companyContextOf } from '../../segments/company-filters.ts'
import { contextOf } from '../../segments/contact-filters.ts'
import { queryEvents } from '../../segments/events.ts'
import type { Score, Scoring } from './score.ts'

/** Rules per statement, because the number of parameters is limited. */
const RULES_PER_QUERY = 50

/** Contacts whose events are asked about at once. */
const CONTACTS_AT_ONCE = 1_000

/** Which rules match a record: those of all scores, in their order. */
export type RulesMet = readonly boolean[]

/**
 * Asks which rules match some contacts or companies at a time. It queries ClickHouse once for the events of all rules, and
 * PostgreSQL for the rest.
 * @returns the answer for each record that exists.
 */
export async function evaluateRules(
  tenant: Tenant,
  scoring: Scoring,
  ids: readonly string[],
  at: Date,
): Promise<Map<string, RulesMet>> {
  const atOnce = scoring.entity === 'contacts' ? CONTACTS_AT_ONCE : COMPANIES_AT_ONCE
  const met = new Map<string, RulesMet>()
  for (let from = 0; from < ids.length; from += atOnce) {
    for (const [id, own] of await evaluateSome(tenant, scoring, ids.slice(from, from + atOnce), at)) met.set(id, own)
  }
  return met
}

async function evaluateSome(
  tenant: Tenant,
  { entity, scores, zone }: Scoring,
  ids: readonly string[],
  at: Date,
): Promise<Map<string, RulesMet>> {
  const rules = scores.flatMap((score) => score.rules)
  if (rules.length === 0) return new Map()
  const questions = rules.flatMap(({ filter }) => eventsOf(filter))
  const isOfContacts = entity === 'contacts'
  const results = isOfContacts
    ? await queryEvents(tenant, questions, { contactIds: ids }, at)
    : await queryEventsOfCompanies(tenant, questions, ids, at)
  const context = {
    ...(isOfContacts ? contextOf(at, zone) : companyContextOf(at, zone)),
    hasEvents: results.hasEvents.bind(results),
  }
  const conditions = rules.map(({ filter }) => compileFilter(filter, context))
  const read = isOfContacts ? conditionsMetBy : companiesMeeting
  const met = new Map<string, boolean[]>()
  for (let from = 0; from < conditions.length; from += RULES_PER_QUERY) {
    const group = conditions.slice(from, from + RULES_PER_QUERY)
    for (const row of await read(tenant, ids, sql<boolean[]>`ARRAY[${sql.join(group)}]`)) {
      met.set(row.id, [...(met.get(row.id) ?? []), ...row.met])
    }
  }
  return met
}

async function companiesMeeting(tenant: Tenant, ids: readonly string[], met: RawBuilder<boolean[]>) {
  const rows = await companiesWith(tenant, { condition: isCompany(ids) }, { id: COMPANY_KEY, met }).execute()
  return rows.map((row) => ({ id: String(row.id), met: row.met as boolean[] }))
}

/** Each score with those of its rules that match. */
export function matchingRules(scores: readonly Score[], met: RulesMet) {
  let from = 0
  return scores.map(({ name, rules }) => {
    const first = from
    from += rules.length
    return { name, rules: rules.filter((_, index) => met[first + index] === true) }
  })
}

/** The value of each score, by name. */
export function totalsOf(scores: readonly Score[], met: RulesMet): Record<string, number> {
  return Object.fromEntries(
    matchingRules(scores, met).map(({ name, rules }) => [name, rules.reduce((sum, { points }) => sum + points, 0)]),
  )
}
