import type { PropertyType } from '../contacts/property-catalogue.ts'

export const ENTITIES = ['contacts', 'companies', 'events'] as const
export type Entity = (typeof ENTITIES)[number]
export const PROPERTY_TYPES: readonly PropertyType[] = ['text', 'number', 'boolean', 'date', 'list']

export interface Property {
  name: string
  label: string
  type: PropertyType
}

function text(name: string, label: string): Property {
  return { name, label, type: 'text' }
}
function date(name: string, label: string): Property {
  return { name, label, type: 'date' }
}

const OF_PLACES = [text('country', 'Country'), text('state', 'State'), text('city', 'City')]
const OF_SIZE: Property[] = [
  { name: 'numberofemployees', label: 'Employees', type: 'number' },
  { name: 'annualrevenue', label: 'Annual revenue', type: 'number' },
]

/** What every record of a kind has, or the service itself knows; the order is the one in which people are offered it. */
export const BUILT_IN: Record<Entity, Property[]> = {
  contacts: [
    text('email', 'E-mail'),
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

/** A key as people would write it: `favourite_colour` is "Favourite colour". */
export function labelOf(name: string): string {
  const words = name
    .replace(/^data\./, '')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1)
}
