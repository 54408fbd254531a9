import { expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import { COMPANY_ID, filterFields } from '../contacts/columns.ts'
import { COMPANY_PROPERTIES } from '../contacts/property-catalogue.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { spelledDomain } from './domain.ts'

/** What filters of companies can name. */
export const COMPANY_FILTER_FIELDS = filterFields('companies', COMPANY_PROPERTIES, { domain: spelledDomain })

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
