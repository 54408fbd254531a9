import { findCompanyProperties } from '../companies/list.ts'
import { isConsent } from '../contacts/consent.ts'
import { findContactProperties } from '../contacts/found-properties.ts'
import {
  COMPANY_PROPERTIES,
  CONTACT_PROPERTIES,
  type KnownProperty,
  type PropertyType,
} from '../contacts/property-catalogue.ts'
import { FIRST_TOUCH_KEYS } from '../contacts/writing/first-touch-keys.ts'
import { dataKeys } from '../events/data-keys.ts'
import { EVENT_FIELDS } from '../events/event-object.ts'
import type { Tenant } from '../platform/tenant.ts'

export const ENTITIES = ['contacts', 'companies', 'events'] as const
export type Entity = (typeof ENTITIES)[number]

export interface Property {
  name: string
  label: string
  type: PropertyType
  /** Whether people set it. The service derives the others, or they record a consent. */
  is_editable: boolean
  /** Whether records are shown and exported with it, unless other properties are chosen. */
  is_usual: boolean
  /** The only values it may have; null for any. */
  choices: string[] | null
  /** How many of the newest 1,000 records have it; null if every record can have it, or if it belongs to events. */
  newest_with_value: number | null
}

const KNOWN: Record<Entity, Readonly<Record<string, Omit<KnownProperty, 'personal'>>>> = {
  contacts: CONTACT_PROPERTIES,
  companies: COMPANY_PROPERTIES,
  events: Object.fromEntries(
    EVENT_FIELDS.map(({ name, ...field }) => [name, { ...field, isColumn: true, isDerived: true }]),
  ),
}

/** The properties of an entity that the service knows, followed by those of the tenant's records. */
export async function listProperties(tenant: Tenant, entity: Entity, now: Date): Promise<Property[]> {
  const found = new Map((await foundProperties(tenant, entity, now)).map((each) => [each.name, each]))
  const known = KNOWN[entity]
  const knownOnes = Object.entries(known).map(([name, property]) => ({
    name,
    label: property.label,
    type: property.type,
    is_editable: !property.isDerived,
    is_usual: property.isUsual ?? false,
    choices: property.choices ? [...property.choices] : null,
    newest_with_value: found.get(name)?.records ?? (property.isColumn ? null : 0),
  }))
  const others = [...found.values()].filter(({ name }) => !Object.hasOwn(known, name))
  return [
    ...knownOnes,
    ...others.map(({ name, type, records }) => ({
      name,
      label: labelOf(name),
      type,
      is_editable: entity !== 'events' && !FIRST_TOUCH_KEYS.includes(name) && !isConsent(name),
      is_usual: false,
      choices: null,
      newest_with_value: records,
    })),
  ]
}

async function foundProperties(
  tenant: Tenant,
  entity: Entity,
  now: Date,
): Promise<{ name: string; type: PropertyType; records: number | null }[]> {
  if (entity === 'contacts') return findContactProperties(tenant)
  if (entity === 'companies') return findCompanyProperties(tenant)
  const keys = await dataKeys(tenant, now)
  return keys.map((key) => ({ name: `data.${key}`, type: 'text', records: null }))
}

/** A key as a label: `favorite_color` is "Favorite color". */
function labelOf(name: string): string {
  const words = name
    .replace(/^data\./, '')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1)
}
