import { ServiceError } from '../errors.ts'
import { timeOfId } from '../ids.ts'
import { HOUR_MS } from '../time.ts'
import { linksWhere, OF_TENANT } from './owner-links.ts'
import type { QueryParameters } from './parameters.ts'

/*
 * How queries of events use sets of contacts, which contact-sets/ copies from PostgreSQL: the tenant's handle replaces what
 * these conditions and columns name with subqueries of the tenant's rows.
 */

/** How long a set can be used. Its rows are kept for longer: see contact-sets/table.ts. */
const USABLE_MS = HOUR_MS

/**
 * The condition that an event belongs to a contact of the set whose id is in a parameter. In brackets, so that it does not
 * look like one of few owners (`isOwnedBy`), whose events a projection has.
 */
export function isInSet(parameter: string): string {
  return `(owner_id IN {${parameter}: ContactSet})`
}

const IN_SET = /owner_id IN \{(\w+): ContactSet\}/g

/** The values that a set has of an event's contact, in a query with `valuesOf`; an empty list if it has none. */
export function valuesOfContact(parameter: string): string {
  return `${parameter}_of.contact_values`
}

/** A statement with the owners of events in place of the sets that its conditions name. */
export function withOwnersOfSets(sql: string): string {
  return sql.replace(IN_SET, (_, parameter: string) => `owner_id GLOBAL IN (${ownersOfSet(parameter)})`)
}

/**
 * Requires that all rows of the sets in a statement are still there: without them, its result would look complete.
 * @param sql the statement, before `withOwnersOfSets`
 * @throws ServiceError 400 `query_too_expensive` for a reader of many pages who took more than an hour.
 */
export function requireSets(sql: string, parameters: QueryParameters, valuesOf: readonly string[]): void {
  const named = [...sql.matchAll(IN_SET)].map(([, parameter = '']) => parameter)
  const oldest = Date.now() - USABLE_MS
  for (const parameter of [...named, ...valuesOf]) {
    if ((timeOfId(String(parameters[parameter])) ?? 0) >= oldest) continue
    const message =
      'Reading these events took more than an hour. Restrict them, for example with date_after and date_before.'
    throw new ServiceError(400, 'query_too_expensive', message)
  }
}

/** A contact owns its events itself, and has those of the owners that are linked to it. */
function ownersOfSet(parameter: string): string {
  const contacts = `SELECT contact_id FROM contact_sets WHERE ${isOfSet(parameter)}`
  return `${contacts} UNION ALL SELECT owner_id FROM (${linksWhere(OF_TENANT)}) WHERE contact_id GLOBAL IN (${contacts})`
}

/** The join that gives `valuesOfContact`. @param contact the contact of an event */
export function joinValues(parameter: string, contact: string): string {
  const values = `SELECT contact_id, groupArray(value) AS contact_values FROM contact_sets
    WHERE ${isOfSet(parameter)} GROUP BY contact_id`
  return `GLOBAL ANY LEFT JOIN (${values}) AS ${parameter}_of ON ${parameter}_of.contact_id = ${contact}`
}

function isOfSet(parameter: string): string {
  return `${OF_TENANT} AND set_id = {${parameter}: UUID}`
}

/** The rows of a set for lines that each end with a line break. */
export function rowsOfSet(tenantId: string, setId: string, lines: string): string {
  const before = `${tenantId}\t${setId}\t`
  return `${before}${lines.slice(0, -1).replaceAll('\n', `\n${before}`)}\n`
}
