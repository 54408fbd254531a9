import type { SourceCompany } from '../../companies/source-companies.ts'
import type { PropertyValue } from '../../contacts/properties.ts'
import { textOf } from '../client.ts'
import type { ContactRecord, Pair } from '../connector.ts'
import type { Item, Owner } from './api.ts'

type Values = Record<string, PropertyValue | null>

/** HubSpot's contact properties, and our names for them. */
const CONTACT_PROPERTIES: Readonly<Record<string, string>> = {
  firstname: 'firstname',
  lastname: 'lastname',
  salutation: 'salutation',
  jobtitle: 'jobtitle',
  job_function: 'job_function',
  seniority: 'seniority',
  company: 'company',
  phone: 'phone',
  mobilephone: 'mobilephone',
  fax: 'fax',
  work_email: 'work_email',
  website: 'website',
  address: 'address',
  city: 'city',
  state: 'state',
  zip: 'zip',
  country: 'country',
  industry: 'industry',
  numemployees: 'numberofemployees',
  annualrevenue: 'annualrevenue',
  message: 'message',
  school: 'school',
  degree: 'degree',
  field_of_study: 'field_of_study',
  twitterhandle: 'twitterhandle',
  lifecyclestage: 'lifecyclestage',
  hs_lead_status: 'lead_status',
  hs_language: 'language',
  hs_timezone: 'timezone',
  hs_linkedin_url: 'linkedin_url',
  hs_email_optout: 'unsubscribed',
  hs_email_bad_address: 'email_bad_address',
  hs_email_quarantined: 'email_quarantined',
  hs_email_hard_bounce_reason_enum: 'email_hard_bounce_reason',
  createdate: 'hubspot_created_at',
}

/** HubSpot's company properties, and our names for them. */
const COMPANY_PROPERTIES: Readonly<Record<string, string>> = {
  website: 'website',
  phone: 'phone',
  address: 'address',
  address2: 'address2',
  city: 'city',
  state: 'state',
  zip: 'zip',
  country: 'country',
  timezone: 'timezone',
  industry: 'industry',
  numberofemployees: 'numberofemployees',
  annualrevenue: 'annualrevenue',
  description: 'description',
  founded_year: 'founded_year',
  type: 'company_type',
  twitterhandle: 'twitterhandle',
  linkedin_company_page: 'linkedin_url',
  lifecyclestage: 'lifecyclestage',
  createdate: 'hubspot_created_at',
}

/** Read for every contact to build its record: the company, the owner, deals, merges and times. */
const CONTACT_INTERNALS = [
  'email',
  'associatedcompanyid',
  'hubspot_owner_id',
  'num_associated_deals',
  'hs_merged_object_ids',
  'hs_calculated_merged_vids',
  'lastmodifieddate',
]
export const COMPANY_NAMES = [
  ...Object.keys(COMPANY_PROPERTIES),
  'name',
  'domain',
  'hubspot_owner_id',
  'num_associated_deals',
  'hs_merged_object_ids',
  'hs_lastmodifieddate',
]

/** Properties that HubSpot computes, or that identify a record. */
export const READ_ONLY: readonly string[] = [
  'email',
  'createdate',
  'lastmodifieddate',
  'hs_object_id',
  'associatedcompanyid',
  'num_associated_deals',
  'hs_merged_object_ids',
  'hs_calculated_merged_vids',
  'hs_email_bad_address',
  'hs_email_quarantined',
  'hs_email_hard_bounce_reason_enum',
]

/** HubSpot's lifecycle stages, and ours. Accounts can add stages, whose internal names are numbers. */
const STAGES = new Map([
  ['subscriber', 'subscriber'],
  ['lead', 'lead'],
  ['marketingqualifiedlead', 'mql'],
  ['salesqualifiedlead', 'sql'],
  ['opportunity', 'opportunity'],
  ['customer', 'customer'],
  ['evangelist', 'evangelist'],
  ['other', 'other'],
])
const STAGES_OF_HUBSPOT = new Map([...STAGES].map(([theirs, ours]) => [ours, theirs]))

const TYPES: Readonly<Record<string, string>> = {
  annualrevenue: 'number',
  numberofemployees: 'number',
  founded_year: 'number',
  hs_email_optout: 'bool',
  hs_email_bad_address: 'bool',
  hs_email_quarantined: 'bool',
  lifecyclestage: 'stage',
}

/** The contact properties to read: the defaults, those that people added, and those that are written back. */
export interface ContactReading {
  /** The property names in HubSpot. */
  names: string[]
  /** Our property for each of them. */
  properties: Map<string, string>
  /** Whether some types are unknown without a lookup. */
  needsTypes: boolean
}

export function contactReading(further: readonly string[], pairs: readonly Pair[]): ContactReading {
  const written = new Set(pairs.map(({ property }) => property))
  const usual = Object.entries(CONTACT_PROPERTIES).filter(([, property]) => !written.has(property))
  const chosen = further.filter((name) => !Object.hasOwn(CONTACT_PROPERTIES, name) && !written.has(name))
  const properties = new Map([
    ...usual,
    ...chosen.map((name) => [name, name] as const),
    ...pairs.map(({ property, target }) => [target, property] as const),
  ])
  return {
    names: [...new Set([...properties.keys(), ...CONTACT_INTERNALS])],
    properties,
    needsTypes: [...properties.keys()].some((name) => !Object.hasOwn(CONTACT_PROPERTIES, name)),
  }
}

/** Whether the property is read from the target by default. */
export function readsUsually({ property, target }: Pair): boolean {
  return Object.hasOwn(CONTACT_PROPERTIES, target) && CONTACT_PROPERTIES[target] === property
}

/** A value as the service stores it; null if there is none. @param types the types of other properties. */
export function readValue(name: string, sent: unknown, types: ReadonlyMap<string, string>): PropertyValue | null {
  const text = typeof sent === 'boolean' ? String(sent) : textOf(sent)
  if (text === null) return null
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : (types.get(name) ?? 'string')
  if (type === 'stage') return STAGES.get(text) ?? null
  if (type === 'number') return Number.isFinite(Number(text)) ? Number(text) : text
  if (type === 'bool') return text === 'true'
  if (type === 'list') return text.split(';')
  return text
}

/** A value as HubSpot stores it; null if HubSpot has no equivalent. */
export function hubspotText(name: string, value: PropertyValue): string | null {
  if (name === 'lifecyclestage') return STAGES_OF_HUBSPOT.get(String(value)) ?? null
  return Array.isArray(value) ? value.join(';') : String(value)
}

export function contactOf(
  { id, properties: sent, ...item }: Item,
  {
    reading,
    types,
    owners,
    deals,
    changedAt,
  }: {
    reading: ContactReading
    types: ReadonlyMap<string, string>
    owners: ReadonlyMap<string, Owner>
    deals: Values
    changedAt: Date | null
  },
): ContactRecord {
  const values = [...reading.properties].map(
    ([name, property]) =>
      [property, name === 'createdate' ? textOf(sent[name]) : readValue(name, sent[name], types)] as const,
  )
  return {
    external_id: id,
    email: textOf(sent.email),
    properties: {
      ...Object.fromEntries(values),
      ...(reading.properties.has('lifecyclestage') ? { hubspot_lifecyclestage: ownStage(sent.lifecyclestage) } : {}),
      ...ownerValues(sent.hubspot_owner_id, owners),
      ...deals,
    },
    raw: { id, ...item, properties: sent },
    company_id: textOf(sent.associatedcompanyid),
    ...(changedAt === null ? {} : { updated_at: changedAt.toISOString() }),
  }
}

export function companyOf(item: Item, owners: ReadonlyMap<string, Owner>, deals: Values): SourceCompany {
  const { id, properties: sent } = item
  const values = Object.entries(COMPANY_PROPERTIES).map(
    ([name, property]) => [property, readValue(name, sent[name], new Map())] as const,
  )
  return {
    externalId: id,
    mergedIds: mergedIds(item),
    domain: textOf(sent.domain),
    name: textOf(sent.name),
    properties: {
      ...Object.fromEntries(values),
      hubspot_lifecyclestage: ownStage(sent.lifecyclestage),
      ...ownerValues(sent.hubspot_owner_id, owners),
      ...deals,
    },
  }
}

/** A lifecycle stage that only this account has. */
function ownStage(stage: unknown): string | null {
  const text = textOf(stage)
  return text === null || STAGES.has(text) ? null : text
}

function ownerValues(ownerId: unknown, owners: ReadonlyMap<string, Owner>): Values {
  const owner = owners.get(textOf(ownerId) ?? '')
  return { hubspot_owner: owner?.name ?? owner?.email ?? null, hubspot_owner_email: owner?.email ?? null }
}

/** The ids that were merged into a contact or a company. An older format is `id:time`, with the time of the merge. */
export function mergedIds({ id, properties }: Item): string[] {
  const texts = [textOf(properties.hs_merged_object_ids), textOf(properties.hs_calculated_merged_vids)]
  const ids = texts.flatMap((text) => text?.split(';') ?? []).map((part) => part.replace(/:.*$/, '').trim())
  return [...new Set(ids)].filter((each) => each !== '' && each !== id)
}

export function timeOf(value: unknown): Date | null {
  const text = textOf(value)
  if (text === null) return null
  const date = new Date(/^\d+$/.test(text) ? Number(text) : text)
  return Number.isNaN(date.getTime()) ? null : date
}
