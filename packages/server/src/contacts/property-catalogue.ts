import type { FieldKind } from '../platform/personal.ts'

export const PROPERTY_TYPES = ['text', 'number', 'boolean', 'date', 'list'] as const
export type PropertyType = (typeof PROPERTY_TYPES)[number]

export const LIFECYCLE_STAGES = [
  'lead',
  'prospect',
  'mql',
  'sql',
  'opportunity',
  'customer',
  'evangelist',
  'subscriber',
  'other',
] as const

/** A property that the service knows. Records may have any others. */
export interface KnownProperty {
  label: string
  type: PropertyType
  /** What it says about a person; null: nothing that AI agents must not see. */
  personal: FieldKind | null
  /** The only values that it may have. */
  choices?: readonly string[]
  /** The filter of lists, and the dimension of aggregation, by its exact value. The table has it in `facets`. */
  facet?: string
  /** Lists and exports include it by default. */
  isUsual?: true
  /** The compact form of a record has it. */
  isInSummary?: true
  /** A column of the table, which filters and files use like a property. */
  isColumn?: true
  /** Only the service sets it. */
  isDerived?: true
}

const OF_BOTH = {
  industry: { label: 'Industry', type: 'text', personal: null, facet: 'industry', isUsual: true },
  country: { label: 'Country', type: 'text', personal: null, facet: 'country', isUsual: true },
  state: { label: 'State', type: 'text', personal: null, facet: 'state', isUsual: true },
  city: { label: 'City', type: 'text', personal: 'address', isUsual: true },
  numberofemployees: { label: 'Employees', type: 'number', personal: null },
  annualrevenue: { label: 'Annual revenue', type: 'number', personal: null },
} as const
const CREATED = { label: 'Created', type: 'date', personal: null, isColumn: true, isDerived: true } as const
const UPDATED = { label: 'Updated', type: 'date', personal: null, isColumn: true, isDerived: true } as const

/** In the order of menus. */
export const CONTACT_PROPERTIES = {
  email: { label: 'Email', type: 'text', personal: 'email', isUsual: true, isInSummary: true, isColumn: true },
  firstname: { label: 'First name', type: 'text', personal: 'firstname', isUsual: true, isInSummary: true },
  lastname: { label: 'Last name', type: 'text', personal: 'lastname', isUsual: true, isInSummary: true },
  company: { label: 'Company', type: 'text', personal: null, isUsual: true, isInSummary: true },
  jobtitle: { label: 'Job title', type: 'text', personal: null, isUsual: true, isInSummary: true },
  lifecyclestage: {
    label: 'Lifecycle stage',
    type: 'text',
    personal: null,
    choices: LIFECYCLE_STAGES,
    facet: 'lifecycle_stage',
    isUsual: true,
    isInSummary: true,
  },
  lead_status: { label: 'Lead status', type: 'text', personal: null, facet: 'lead_status', isUsual: true },
  ...OF_BOTH,
  city: { ...OF_BOTH.city, facet: 'city' },
  linkedin_url: { label: 'LinkedIn', type: 'text', personal: 'url' },
  social_profile_url: { label: 'Social profile', type: 'text', personal: 'url' },
  company_domain: { label: 'Company domain', type: 'text', personal: null },
  company_id: { label: 'Company record', type: 'text', personal: null, isColumn: true, isDerived: true },
  creation_source: { label: 'Created by', type: 'text', personal: null, isColumn: true, isDerived: true },
  created_at: CREATED,
  updated_at: UPDATED,
  first_seen_at: { label: 'First seen', type: 'date', personal: null, isColumn: true, isDerived: true },
} as const satisfies Record<string, KnownProperty>

/** In the order of menus. */
export const COMPANY_PROPERTIES = {
  name: { label: 'Name', type: 'text', personal: null, isUsual: true, isColumn: true },
  domain: { label: 'Domain', type: 'text', personal: null, isUsual: true, isColumn: true },
  ...OF_BOTH,
  // Where a company is says nothing about a person.
  city: { ...OF_BOTH.city, personal: null },
  numberofemployees: { ...OF_BOTH.numberofemployees, isUsual: true },
  annualrevenue: { ...OF_BOTH.annualrevenue, isUsual: true },
  contact_count: { label: 'Contacts', type: 'number', personal: null, isColumn: true, isDerived: true },
  created_at: CREATED,
  updated_at: UPDATED,
} as const satisfies Record<string, KnownProperty>

/** The names of the properties that `has` selects. */
export function namesOf(
  properties: Readonly<Record<string, KnownProperty>>,
  has: (property: KnownProperty) => boolean | undefined,
): string[] {
  return Object.entries(properties).flatMap(([name, property]) => (has(property) ? name : []))
}

/** The properties of a contact's compact form. */
export const SUMMARY_PROPERTIES = namesOf(CONTACT_PROPERTIES, ({ isInSummary }) => isInSummary)
