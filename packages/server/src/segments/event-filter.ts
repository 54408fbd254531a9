import { sql } from 'kysely'
import {
  type ConditionOnEvent,
  isNested,
  isOnContact,
  type PropertyCondition,
  type SegmentFilter,
  withoutPrefix,
} from '../conditions/language.ts'
import { filterIn, parseEventFilter, parseWhere } from '../conditions/parse.ts'
import { compileWhere, type FoundContacts } from '../conditions/to-clickhouse.ts'
import { compileFilter } from '../conditions/to-postgres.ts'
import { someMatching } from '../contacts/matching.ts'
import type { CompileEventFilter } from '../events/filters.ts'
import { fewOwnersOf } from '../owners/owners.ts'
import type { Tenant } from '../platform/tenant.ts'
import { CONTACTS, contextFor, zoneOf } from './contact-filters.ts'
import { contactSetMeeting } from './contact-set.ts'

/** Contacts, and their owners, that a condition sends with the query. More of them are copied into a set. */
const CONTACTS_SENT_MAX = 500
const OWNERS_SENT_MAX = 2_000

/**
 * Compiles the conditions on events of a request, all of which must be true.
 * @throws ServiceError 400 naming every invalid field; 403 without the scope of contacts, if they are about contacts.
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
  const found = new Map<string, FoundContacts>()
  for (const condition of ofContacts) {
    const filter: SegmentFilter = { match: 'all', conditions: [withoutPrefix(condition)] }
    found.set(keyOf(condition), await contactsMeeting(tenant, filter, now))
  }
  const contactsFound = (condition: PropertyCondition) => found.get(keyOf(condition)) ?? { owners: [] }
  return compileWhere(conditions, 'where_', { now, zone, contactsMeeting: contactsFound })
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

async function contactsMeeting(tenant: Tenant, filter: SegmentFilter, now: Date): Promise<FoundContacts> {
  const isMet = compileFilter(filter, { ...(await contextFor(tenant, filter, now)), hasEvents: () => sql`false` })
  const ids = await someMatching(tenant, isMet, CONTACTS_SENT_MAX + 1)
  const owners = ids.length > CONTACTS_SENT_MAX ? null : await fewOwnersOf(tenant, ids, OWNERS_SENT_MAX)
  return owners === null ? { setId: await contactSetMeeting(tenant, isMet) } : { owners }
}
