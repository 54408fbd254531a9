import { sql } from 'kysely'
import { byProperties, byProperty, type KeyedRecord, type RecordDimension } from '../contacts/dimensions.ts'
import { COMPANY_FACETS } from '../contacts/facets.ts'
import { WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
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
  sql: bandOf(EMPLOYEES_SQL, EMPLOYEE_BANDS),
  kind: 'text',
  description: `Range of property numberofemployees: ${names(EMPLOYEE_BANDS)}.`,
  mark: WORD,
}

/** The dimensions of companies. */
export const COMPANY_DIMENSIONS = {
  ...byProperties('companies', COMPANY_FACETS),
  lifecycle_stage: byProperty('companies', 'lifecyclestage'),
  size_bucket: sizeBucket,
  employee_band: { ...sizeBucket, description: 'The same as size_bucket.' },
  revenue_bucket: {
    sql: bandOf(`numeric_property(companies.properties, 'annualrevenue')`, REVENUE_BANDS),
    kind: 'text',
    description: `Range of property annualrevenue, lower bound included: ${names(REVENUE_BANDS)}.`,
    mark: WORD,
  },
} as const satisfies Readonly<Record<string, RecordDimension>>

/** A query of the matching companies by a dimension. */
export function companiesBy(tenant: Tenant, filters: CompanyFilters, dimension: keyof typeof COMPANY_DIMENSIONS) {
  const key = sql.raw<KeyedRecord['key']>(COMPANY_DIMENSIONS[dimension].sql)
  return matchingCompanies(tenant, filters).select([key.as('key'), 'companies.properties'])
}
