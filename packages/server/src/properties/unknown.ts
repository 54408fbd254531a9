import { hasCompanyProperty } from '../companies/list.ts'
import { dataItems, eventPropertyNamed } from '../conditions/event-property.ts'
import { hasContactProperty } from '../contacts/found-properties.ts'
import { COMPANY_PROPERTIES, CONTACT_PROPERTIES } from '../contacts/property-catalogue.ts'
import { shown } from '../platform/characters.ts'
import { ServiceError } from '../platform/errors.ts'
import { nearestName } from '../platform/nearest-name.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Entity, propertyNames } from './catalogue.ts'

/** Looking for a property that no event has reads all events; after this time, the newest ones decide. */
const SECONDS_MAX = 2

/** What a condition's name begins with if it means a property of another entity, by the entity that the condition is about. */
const ELSEWHERE: Record<Entity, Readonly<Record<string, Entity>>> = {
  contacts: { 'company.': 'companies' },
  companies: {},
  events: { 'contact.': 'contacts', 'company.': 'companies' },
}
/** What conditions name like properties, and no record has. */
const OF_CONDITIONS: Record<Entity, readonly string[]> = {
  contacts: ['segment'],
  companies: ['segment', 'contact_count'],
  events: [],
}
const ONE_OF: Record<Entity, string> = { contacts: 'contact', companies: 'company', events: 'event' }

/**
 * What to tell a caller about the names of conditions, groups and measures that nothing in the tenant has: the nearest
 * known one. Costs a few milliseconds for each name that something has, and more for others.
 * @param entity What the conditions are about; `company.industry` of contacts is a property of companies.
 */
export async function unknownPropertyWarnings(
  tenant: Tenant,
  entity: Entity,
  names: Iterable<string>,
): Promise<string[]> {
  const warnings = await Promise.all([...new Set(names)].map((name) => warningFor(tenant, entity, name)))
  return warnings.filter((warning) => warning !== null)
}

async function warningFor(tenant: Tenant, about: Entity, sent: string): Promise<string | null> {
  const prefix = Object.keys(ELSEWHERE[about]).find((each) => sent.startsWith(each)) ?? ''
  const entity = ELSEWHERE[about][prefix] ?? about
  const name = sent.slice(prefix.length)
  if (await isKnown(tenant, entity, name)) return null
  const nearest = nearestName(name, await propertyNames(tenant, entity))
  const fact = `No ${ONE_OF[entity]} has the property ${shown(sent)}.`
  // The newest events have it, but the search for it took too long.
  if (nearest === name) return null
  return nearest === null ? fact : `${fact} Did you mean ${shown(prefix + nearest)}?`
}

async function isKnown(tenant: Tenant, entity: Entity, name: string): Promise<boolean> {
  if (entity === 'events') return isInEvents(tenant, name)
  if (OF_CONDITIONS[entity].includes(name)) return true
  const key = name.startsWith('properties.') ? name.slice('properties.'.length) : name
  if (key === name && Object.hasOwn(entity === 'contacts' ? CONTACT_PROPERTIES : COMPANY_PROPERTIES, key)) return true
  const has = entity === 'contacts' ? hasContactProperty : hasCompanyProperty
  return tenant.heavyRead(() => has(tenant, key))
}

async function isInEvents(tenant: Tenant, name: string): Promise<boolean> {
  const property = eventPropertyNamed(name)
  if (property?.kind !== 'data') return property !== null
  const { sql: items, parameters } = dataItems(property.path, 'key')
  try {
    const found = await tenant.events.select({
      name: 'properties.exists',
      lane: 'heavy',
      columns: '1 AS found',
      where: ['is_system IN (0, 1)', `notEmpty(${items})`],
      parameters,
      limit: 1,
      secondsMax: SECONDS_MAX,
    })
    return found.length > 0
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'query_too_expensive') return false
    // A warning is no reason to fail: a command cannot read the events of a running service, and ClickHouse may be down.
    return true
  }
}
