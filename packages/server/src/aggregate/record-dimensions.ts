import { EMPLOYEES_SQL } from '../companies/list.ts'
import { COMPANY_FACETS, CONTACT_FACETS } from '../contacts/facets.ts'
import type { Dimension, Dimensions } from './dimension.ts'

/** An empty text counts as missing. */
function property(table: 'contacts' | 'companies', key: string, more = ''): Dimension {
  return { sql: `nullif(${table}.properties ->> '${key}', '')`, kind: 'text', description: `Property ${key}${more}.` }
}

function properties<Name extends string>(table: 'contacts' | 'companies', names: Readonly<Record<Name, string>>) {
  const dimensions = Object.entries<string>(names).map(([name, key]) => [name, property(table, key)])
  return Object.fromEntries(dimensions) as Record<Name, Dimension>
}

const hasSocialProfile: Dimension = {
  sql: `contacts.facets @> ARRAY['has_social_profile']`,
  kind: 'boolean',
  description: 'Whether the contact has a social-network profile.',
}

/** The dimensions of contacts, in PostgreSQL's SQL. */
export const CONTACT_DIMENSIONS = {
  ...properties('contacts', CONTACT_FACETS),
  company: property('contacts', 'company', ', a name'),
  job_title: property('contacts', 'jobtitle'),
  company_id: {
    sql: 'contacts.company_id::text',
    kind: 'id',
    description: 'Associated company; contacts without one are in no bucket.',
  },
  created_day: {
    sql: `to_char(contacts.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
    kind: 'day',
    description: 'Day of creation (UTC), `YYYY-MM-DD`: the most recent days, in chronological order.',
  },
  has_linkedin: hasSocialProfile,
  has_social_profile: { ...hasSocialProfile, description: 'The same as has_linkedin.' },
} as const satisfies Dimensions

/** The inclusive lower bound of each range. */
const EMPLOYEE_BANDS = [
  [1, '1-10'],
  [11, '11-50'],
  [51, '51-200'],
  [201, '201-500'],
  [501, '501-1000'],
  [1_001, '1001-5000'],
  [5_001, '5001-10000'],
  [10_001, '10001+'],
] as const
const REVENUE_BANDS = [
  [Number.NEGATIVE_INFINITY, '<1M'],
  [1e6, '1M-10M'],
  [10e6, '10M-50M'],
  [50e6, '50M-100M'],
  [100e6, '100M-500M'],
  [500e6, '500M-1B'],
  [1e9, '1B+'],
] as const

/** The range of a number; null if it is missing or below all of them. */
function bandOf(number: string, bands: readonly (readonly [number, string])[]): string {
  const cases = bands.toReversed().map(([from, name]) => `WHEN ${number} >= ${numeric(from)} THEN '${name}'`)
  return `CASE ${cases.join(' ')} END`
}

function numeric(bound: number): string {
  return Number.isFinite(bound) ? String(bound) : `'-Infinity'::numeric`
}

function names(bands: readonly (readonly [number, string])[]): string {
  return bands.map(([, name]) => name).join(', ')
}

const sizeBucket: Dimension = {
  sql: bandOf(EMPLOYEES_SQL, EMPLOYEE_BANDS),
  kind: 'text',
  description: `Range of property numberofemployees: ${names(EMPLOYEE_BANDS)}.`,
}

/** The dimensions of companies, in PostgreSQL's SQL. */
export const COMPANY_DIMENSIONS = {
  ...properties('companies', COMPANY_FACETS),
  lifecycle_stage: property('companies', 'lifecyclestage'),
  size_bucket: sizeBucket,
  employee_band: { ...sizeBucket, description: 'The same as size_bucket.' },
  revenue_bucket: {
    sql: bandOf(`numeric_property(companies.properties, 'annualrevenue')`, REVENUE_BANDS),
    kind: 'text',
    description: `Range of property annualrevenue, lower bound included: ${names(REVENUE_BANDS)}.`,
  },
} as const satisfies Dimensions
