import { expressionBuilder, type RawBuilder, sql } from 'kysely'
import { COMPANY_ID } from '../contacts/columns.ts'
import {
  byProperties,
  byProperty,
  computed,
  type RecordDimension,
  type RecordValue,
  valueNamed,
} from '../contacts/dimensions.ts'
import { COMPANY_FACETS } from '../contacts/facets.ts'
import { contactCountOf } from '../contacts/of-companies.ts'
import { WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { COMPANY_FILTER_FIELDS } from './filter-fields.ts'
import { type CompanyFilters, EMPLOYEES_SQL, matchingCompanies } from './list.ts'

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

const sizeBucket: RecordDimension = {
  value: () => computed(sql.raw(bandOf(EMPLOYEES_SQL, EMPLOYEE_BANDS))),
  description: `Range of property numberofemployees: ${names(EMPLOYEE_BANDS)}.`,
  mark: WORD,
}

/** The dimensions of companies. */
export const COMPANY_DIMENSIONS = {
  ...byProperties(COMPANY_FILTER_FIELDS, COMPANY_FACETS),
  lifecycle_stage: byProperty(COMPANY_FILTER_FIELDS, 'lifecyclestage'),
  size_bucket: sizeBucket,
  employee_band: { ...sizeBucket, description: 'The same as size_bucket.' },
  revenue_bucket: {
    value: () => computed(sql.raw(bandOf(`numeric_property(companies.properties, 'annualrevenue')`, REVENUE_BANDS))),
    description: `Range of property annualrevenue, lower bound included: ${names(REVENUE_BANDS)}.`,
    mark: WORD,
  },
  contact_count: {
    value: () => computed(sql`(${contactCountOf(sql.ref('companies.company_id'))})`),
    description: 'Number of contacts that belong to the company.',
    mark: WORD,
  },
} as const satisfies Readonly<Record<string, RecordDimension>>

/** The value of companies with a name: a dimension, a column or a property. */
export function companyValue(name: string, timeZone: string): RecordValue {
  return valueNamed(name, timeZone, COMPANY_DIMENSIONS, COMPANY_FILTER_FIELDS)
}

/** A value of a contact's company, in a query of contacts. */
export function valueOfCompany({ object, key, isKnown = false }: RecordValue): RecordValue {
  const ofCompany = expressionBuilder<TenantTables, never>()
    .selectFrom('companies')
    .select(object.as('object'))
    .where('companies.company_id', '=', COMPANY_ID)
  return { object: sql`(${ofCompany})`, key, kind: 'property', isKnown }
}

/** A query of the matching companies with values of each. */
export function companiesWith<Value extends string>(
  tenant: Tenant,
  filters: CompanyFilters,
  values: Readonly<Record<Value, RawBuilder<unknown>>>,
) {
  const selected = Object.entries<RawBuilder<unknown>>(values).map(([name, value]) => value.as(name as Value))
  // As for contacts, so that each value is computed once.
  return matchingCompanies(tenant, filters).select(selected).offset(0)
}
