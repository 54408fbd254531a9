import { readTenant } from '../access/tenants.ts'
import { findCompanyProperties } from '../companies/list.ts'
import { EVENT_PROPERTY_NAMES, eventPropertyNamed, pathText } from '../conditions/event-property.ts'
import type { FindComputedNames } from '../contacts/computed-names.ts'
import { isConsent } from '../contacts/consent.ts'
import { type FoundProperties, findContactProperties } from '../contacts/found-properties.ts'
import {
  COMPANY_PROPERTIES,
  CONTACT_PROPERTIES,
  type KnownProperty,
  type PropertyType,
} from '../contacts/property-catalogue.ts'
import { FIRST_TOUCH_KEYS } from '../contacts/writing/first-touch-keys.ts'
import { type DataProperty, findDataProperties, type ValueKind } from '../events/data-properties.ts'
import { EVENT_FIELDS } from '../events/event-object.ts'
import { kindOfProperty, passesOn } from '../personal/fields.ts'
import { personalNames } from '../personal/personal-names.ts'
import type { Tenant } from '../platform/tenant.ts'

export const ENTITIES = ['contacts', 'companies', 'events'] as const
export type Entity = (typeof ENTITIES)[number]

/** How many properties that the service does not know are listed. */
export const FOUND_MAX = 2_000

export interface Property {
  name: string
  label: string
  type: PropertyType
  kinds: ValueKind[]
  /** Whether people set it. The service derives the others, or they record a consent. */
  is_editable: boolean
  /** Whether it is a computed property. */
  is_computed: boolean
  /** Whether records are shown and exported with it, unless other properties are chosen. */
  is_usual: boolean
  /** The only values it may have; null for any. */
  choices: string[] | null
  /** How many values the newest records have; null for a column, which each of them has. */
  values_seen: number | null
  last_seen_at: string | null
  top_values?: (string | number | boolean)[]
}

/** What the records of a tenant have. */
interface Found extends Pick<Property, 'name' | 'type' | 'kinds' | 'top_values'> {
  label: string
  valuesSeen: number
  lastSeenAt: Date
}

const KNOWN: Record<Entity, Readonly<Record<string, Omit<KnownProperty, 'personal'>>>> = {
  contacts: CONTACT_PROPERTIES,
  companies: COMPANY_PROPERTIES,
  events: eventColumns(),
}

function eventColumns() {
  const fields = new Map<string, string>(EVENT_FIELDS.map(({ name, label }) => [name, label]))
  const columns = EVENT_PROPERTY_NAMES.map((name) => {
    const property = {
      label: fields.get(name) ?? labelOf(name),
      type: typeOfColumn(name),
      isColumn: true,
      isDerived: true,
    }
    return [name, property as Omit<KnownProperty, 'personal'>] as const
  })
  return Object.fromEntries(columns)
}

function typeOfColumn(name: string): PropertyType {
  const kind = eventPropertyNamed(name)?.kind
  if (kind === 'time') return 'date'
  return kind === 'boolean' ? 'boolean' : 'text'
}

/** Which properties are listed. */
export interface CatalogueQuery {
  entity: Entity
  /** Only what events of this name have in their data. */
  event?: string | undefined
  /** Only those whose name or label contains it, in any case. */
  search?: string | undefined
}

/**
 * The properties of an entity: columns, then those of the tenant's newest records, most used first, then known ones that
 * no record has. `more` is how many are left out.
 */
export async function listProperties(
  { tenant, findComputedNames }: { tenant: Tenant; findComputedNames: FindComputedNames },
  { entity, event, search = '' }: CatalogueQuery,
): Promise<{ properties: Property[]; more: number }> {
  const [{ properties: found, more }, mayShow, names] = await Promise.all([
    findProperties(tenant, entity, event),
    visibleNames(tenant, entity),
    findComputedNames(tenant),
  ])
  const computed: ReadonlySet<string> = entity === 'events' ? new Set() : names[entity]
  const byName = new Map(found.map((each) => [each.name, each]))
  const known = KNOWN[entity]
  const ofService = Object.entries(known).map(([name, property]) => {
    const isColumn = property.isColumn ?? false
    return {
      name,
      label: property.label,
      type: property.type,
      kinds: byName.get(name)?.kinds ?? [kindOfType(property.type)],
      is_editable: !property.isDerived,
      is_computed: false,
      is_usual: property.isUsual ?? false,
      choices: property.choices ? [...property.choices] : null,
      ...seen(byName.get(name), isColumn, mayShow),
    }
  })
  const isEditable = (name: string) =>
    entity !== 'events' && !FIRST_TOUCH_KEYS.includes(name) && !isConsent(name) && !computed.has(name)
  const ofTenant = found
    .filter(({ name }) => !Object.hasOwn(known, name))
    .map((each) => ({
      name: each.name,
      label: each.label,
      type: each.type,
      kinds: each.kinds,
      is_editable: isEditable(each.name),
      is_computed: computed.has(each.name),
      is_usual: false,
      choices: null,
      ...seen(each, false, mayShow),
    }))
  const use = ({ values_seen }: Property) => values_seen ?? Number.POSITIVE_INFINITY
  const all: Property[] = [...ofService, ...ofTenant]
  const matching = all.filter(({ name, label }) => `${name}\n${label}`.toLowerCase().includes(search.toLowerCase()))
  return {
    properties: matching.toSorted((a, b) => (use(a) === use(b) ? 0 : use(b) - use(a))),
    more,
  }
}

/** The names of the properties of an entity that are listed. */
export async function propertyNames(tenant: Tenant, entity: Entity): Promise<string[]> {
  const { properties } = await findProperties(tenant, entity)
  return [...new Set([...Object.keys(KNOWN[entity]), ...properties.map(({ name }) => name)])]
}

async function findProperties(
  tenant: Tenant,
  entity: Entity,
  event?: string,
): Promise<{ properties: Found[]; more: number }> {
  if (entity === 'events') {
    const { properties, total } = await findDataProperties(tenant, { event, limit: FOUND_MAX })
    return { properties: properties.filter(hasName).map(ofData), more: total - properties.length }
  }
  const find: (tenant: Tenant, limit: number) => Promise<FoundProperties> =
    entity === 'contacts' ? findContactProperties : findCompanyProperties
  const { properties, total } = await tenant.heavyRead(() => find(tenant, FOUND_MAX))
  return {
    properties: properties.map(({ records, topValues, ...property }) => ({
      ...property,
      label: labelOf(property.name),
      valuesSeen: records,
      top_values: topValues,
    })),
    more: total - properties.length,
  }
}

/** An empty key cannot be named, and a key that contains an email address is a value that somebody put there. */
function hasName({ path }: DataProperty): boolean {
  return !path.some((key) => key === '' || key.includes('@'))
}

function ofData({ path, kinds, topValues, ...property }: DataProperty): Found {
  const [kind = 'text'] = kinds
  return {
    ...property,
    name: `data.${pathText(path)}`,
    label: labelOf(path.join(' ')),
    type: kinds.length > 1 ? 'text' : kind === 'time' ? 'date' : kind,
    kinds,
    top_values: topValues,
  }
}

function seen(
  found: Found | undefined,
  isColumn: boolean,
  mayShow: (name: string) => boolean,
): Pick<Property, 'values_seen' | 'last_seen_at' | 'top_values'> {
  if (!found) return { values_seen: isColumn ? null : 0, last_seen_at: null }
  const { name, top_values: values = [] } = found
  return {
    values_seen: found.valuesSeen,
    last_seen_at: found.lastSeenAt.toISOString(),
    ...(values.length > 0 && mayShow(name) ? { top_values: values } : {}),
  }
}

/** In the event of a message, these are what people wrote, and who they are. */
const OF_MESSAGES = ['text', 'html', 'from', 'to']

/** Which properties have values that say nothing about a person, by their names. */
async function visibleNames(tenant: Tenant, entity: Entity): Promise<(name: string) => boolean> {
  const kindOfName = personalNames((await readTenant(tenant)).chosen)
  const isPersonal = (name: string) => kindOfProperty(name, entity, kindOfName) !== null
  return (name) => {
    const property = entity === 'events' ? eventPropertyNamed(name) : null
    if (property?.kind !== 'data') return !isPersonal(name)
    const { path } = property
    const holders = path.slice(0, -1).filter((each) => passesOn(each, {}))
    if (OF_MESSAGES.includes(path.join('.'))) return false
    return ![...holders, ...path.slice(-1), path.join('.')].some(isPersonal)
  }
}

function kindOfType(type: PropertyType): ValueKind {
  return type === 'date' ? 'time' : type
}

/** A name as a label: `favorite_color` is "Favorite color". */
function labelOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').trim()
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1)
}
