import { expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { FilteredRecords } from '../conditions/language.ts'
import { COMPANY_ID, filterFields } from '../contacts/columns.ts'
import { contactCountOf } from '../contacts/of-companies.ts'
import { COMPANY_PROPERTIES } from '../contacts/property-catalogue.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { spelledDomain } from './domain.ts'

const FIELDS = filterFields('companies', COMPANY_PROPERTIES, { domain: spelledDomain })

/** The id of a company, in a query of companies. */
export const COMPANY_KEY: RawBuilder<string> = sql.ref('companies.company_id')

/** What filters of companies can name. */
export const COMPANY_FILTER_FIELDS: FilteredRecords = {
  ...FIELDS,
  column: (name) => (name === 'contact_count' ? sql`(${contactCountOf(COMPANY_KEY)})` : FIELDS.column(name)),
}

/**
 * The condition, in a query of contacts, that a contact's company meets another one. PostgreSQL chooses between a look-up
 * for each contact and one pass over the companies.
 */
export function companyMeets(condition: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  const company = expressionBuilder<TenantTables, never>()
    .selectFrom('companies')
    .select('companies.company_id')
    .where('companies.company_id', '=', COMPANY_ID)
    .where(condition)
  return sql`EXISTS ${company}`
}

/** The condition, in a query of companies, that a company has one of these ids. An array is one parameter, however long. */
export function isCompany(companyIds: readonly string[]): RawBuilder<SqlBool> {
  return sql`${COMPANY_KEY} = ANY(${companyIds}::uuid[])`
}
