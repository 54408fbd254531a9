import { findCompanyProperties } from '../companies/list.ts'
import { FIRST_TOUCH_KEYS } from '../contacts/first-touch-keys.ts'
import { LIFECYCLE_STAGES } from '../contacts/properties.ts'
import { findContactProperties, type PropertyType } from '../contacts/property-catalogue.ts'
import { isConsent } from '../contacts/protected-properties.ts'
import { dataKeys } from '../events/data-keys.ts'
import type { Tenant } from '../platform/tenant.ts'

export const ENTITIES = ['contacts', 'companies', 'events'] as const
export type Entity = (typeof ENTITIES)[number]
export const PROPERTY_TYPES: readonly PropertyType[] = ['text', 'number', 'boolean', 'date', 'list']

export interface Property {
  name: string
  label: string
  type: PropertyType
  /** Whether people set it. The service derives the others, or they record a consent. */
  is_editable: boolean
  /** The only values it may have; null for any. */
  choices: string[] | null
  /** How many of the newest 1,000 records have it; null if every record can have it, or if it belongs to events. */
  newest_with_value: number | null
}

type Listed = Omit<Property, 'is_editable' | 'choices' | 'newest_with_value'>

function text(name: string, label: string): Listed {
  return { name, label, type: 'text' }
}
function date(name: string, label: string): Listed {
  return { name, label, type: 'date' }
}

const OF_PLACES = [text('country', 'Country'), text('state', 'State'), text('city', 'City')]
const OF_SIZE: Listed[] = [
  { name: 'numberofemployees', label: 'Employees', type: 'number' },
  { name: 'annualrevenue', label: 'Annual revenue', type: 'number' },
]

/** The built-in properties, in the order of the dashboard's menus. */
const BUILT_IN: Record<Entity, Listed[]> = {
  contacts: [
    text('email', 'Email'),
    text('firstname', 'First name'),
    text('lastname', 'Last name'),
    text('company', 'Company'),
    text('jobtitle', 'Job title'),
    text('lifecyclestage', 'Lifecycle stage'),
    text('lead_status', 'Lead status'),
    text('industry', 'Industry'),
    ...OF_PLACES,
    ...OF_SIZE,
    text('linkedin_url', 'LinkedIn'),
    text('company_id', 'Company record'),
    text('creation_source', 'Created by'),
    date('created_at', 'Created'),
    date('updated_at', 'Updated'),
    date('first_seen_at', 'First seen'),
  ],
  companies: [
    text('name', 'Name'),
    text('domain', 'Domain'),
    text('industry', 'Industry'),
    ...OF_PLACES,
    ...OF_SIZE,
    date('created_at', 'Created'),
    date('updated_at', 'Updated'),
  ],
  events: [
    date('timestamp', 'Time'),
    text('event', 'Event'),
    text('url', 'URL'),
    text('domain', 'Domain'),
    text('internal_contact_id', 'Contact'),
    text('visitor_id', 'Visitor'),
    text('session_id', 'Session'),
    text('referrer', 'Referrer'),
    text('referring_domain', 'Referring domain'),
    text('browser', 'Browser'),
    text('os', 'Operating system'),
    text('device_type', 'Device'),
    { name: 'is_bot', label: 'Bot', type: 'boolean' },
    { name: 'origin_mismatch', label: 'Sent from a different host', type: 'boolean' },
    text('screen', 'Screen'),
    text('user_agent', 'User agent'),
    text('analytics_user_id', 'Analytics user id'),
    date('createdAt', 'Received'),
    text('event_id', 'Event id'),
  ],
}

/** The built-in properties of an entity, followed by those of the tenant's records. */
export async function listProperties(tenant: Tenant, entity: Entity, now: Date): Promise<Property[]> {
  const builtIn = BUILT_IN[entity]
  const known = new Set(builtIn.map(({ name }) => name))
  const found = await customProperties(tenant, entity, now)
  const records = new Map(found.map((each) => [each.name, each.records]))
  const others = found.filter(({ name }) => !known.has(name))
  const all = [...builtIn, ...others.map(({ name, type }) => ({ name, type, label: labelOf(name) }))]
  return all.map((each) => ({
    ...each,
    is_editable: entity !== 'events' && isEditable(each.name),
    choices: entity === 'contacts' && each.name === 'lifecyclestage' ? [...LIFECYCLE_STAGES] : null,
    newest_with_value: records.get(each.name) ?? (entity !== 'events' && isStored(each.name) ? 0 : null),
  }))
}

const DERIVED = ['company_id', 'creation_source', 'created_at', 'updated_at', 'first_seen_at', ...FIRST_TOUCH_KEYS]

function isEditable(name: string): boolean {
  return !DERIVED.includes(name) && !isConsent(name)
}

/** Whether a built-in property is one that a record has or has not, rather than a column that each has. */
function isStored(name: string): boolean {
  return !['email', 'name', 'domain', ...DERIVED].includes(name)
}

async function customProperties(
  tenant: Tenant,
  entity: Entity,
  now: Date,
): Promise<(Omit<Listed, 'label'> & { records: number | null })[]> {
  if (entity === 'contacts') return findContactProperties(tenant)
  if (entity === 'companies') return findCompanyProperties(tenant)
  const keys = await dataKeys(tenant, now)
  return keys.map((key) => ({ name: `data.${key}`, type: 'text' as const, records: null }))
}

/** A key as a label: `favourite_colour` is "Favourite colour". */
function labelOf(name: string): string {
  const words = name
    .replace(/^data\./, '')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1)
}
