import { sql } from 'kysely'
import {
  type ConditionOnEvent,
  isNested,
  isOnContact,
  type PropertyCondition,
  withoutPrefix,
} from '../conditions/language.ts'
import { filterIn, parseEventFilter, parseWhere } from '../conditions/parse.ts'
import { compileWhere } from '../conditions/to-clickhouse.ts'
import { compileFilter } from '../conditions/to-postgres.ts'
import { someMatching } from '../contacts/matching.ts'
import { namesOverlapping } from '../contacts/visible-texts.ts'
import type { CompileEventFilter } from '../events/filters.ts'
import { ownersOf } from '../owners/owners.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { CONTACTS, contextOf, zoneOf } from './contact-filters.ts'

/** Contacts whose events a condition may select: their ids are sent with the query. */
const CONTACTS_MAX = 10_000

/**
 * Compiles the conditions on events of a request, all of which must be true.
 * @throws ServiceError 400 naming every invalid field, or `condition_too_broad`; 403 without the scope of contacts, if
 * they are about contacts.
 */
export const compileEventFilter: CompileEventFilter = async (
  tenant,
  { where, filter, path },
  { now, requireScope, visibleOnly },
) => {
  const options = { contacts: CONTACTS, visibleOnly, ...(path === undefined ? {} : { path }) }
  const conditions = [
    ...(where === undefined ? [] : parseWhere(where, options)),
    ...(filter === undefined ? [] : [parseEventFilter(filterIn(filter), options)]),
  ]
  const zone = await zoneOf(tenant, conditions)
  const ofContacts = conditions.flatMap(conditionsOnContacts)
  if (ofContacts.length > 0) requireScope('contacts:read')
  const owners = new Map<string, readonly string[]>()
  for (const condition of ofContacts) {
    owners.set(keyOf(condition), await ownersMeeting(tenant, withoutPrefix(condition), now, zone))
  }
  const context = { now, zone, ownersMeeting: (condition: PropertyCondition) => owners.get(keyOf(condition)) ?? [] }
  return compileWhere(conditions, 'where_', context)
}

function conditionsOnContacts(condition: ConditionOnEvent): PropertyCondition[] {
  if (isNested(condition)) return condition.conditions.flatMap(conditionsOnContacts)
  return isOnContact(condition) ? [positive(condition)] : []
}

/** Of a negative operator, the contacts that meet the positive one: events of nobody meet the negative one too. */
function positive(condition: PropertyCondition): PropertyCondition {
  const operator = condition.operator.replace(/^not_|(?<=^is_)not_/, '') as PropertyCondition['operator']
  return { ...condition, operator }
}

function keyOf(condition: PropertyCondition): string {
  return JSON.stringify(condition)
}

/** The owners of the events of all contacts that meet a condition. */
async function ownersMeeting(tenant: Tenant, condition: PropertyCondition, now: Date, zone: string): Promise<string[]> {
  const parts = condition.visible_only ? [String(condition.value)] : []
  const context = contextOf(now, zone, await namesOverlapping(tenant, parts))
  const isMet = compileFilter({ match: 'all', conditions: [condition] }, { ...context, hasEvents: () => sql`false` })
  const ids = await someMatching(tenant, isMet, CONTACTS_MAX + 1)
  if (ids.length <= CONTACTS_MAX) return ownersOf(tenant, ids)
  const message = `More than ${CONTACTS_MAX} contacts meet the condition on ${condition.property}. Add a condition that fewer contacts meet, or group by this property instead.`
  throw new ServiceError(400, 'condition_too_broad', message)
}
