import { type Expression, expressionBuilder, sql } from 'kysely'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'

/** The ids of the newest contacts of a company. */
export async function newestOfCompany(tenant: Tenant, companyId: string, limit: number): Promise<string[]> {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('company_id', '=', companyId)
    .orderBy('created_at', 'desc')
    .orderBy('contact_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}

/** The contacts of some companies. */
export async function contactsOfCompanies(tenant: Tenant, companyIds: readonly string[]): Promise<string[]> {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('company_id', '=', sql<string>`any(${companyIds}::uuid[])`)
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}

/** The companies of some contacts. */
export async function companiesOfContacts(tenant: Tenant, contactIds: readonly string[]): Promise<string[]> {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('company_id')
    .distinct()
    .where('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
    .execute()
  return rows.flatMap(({ company_id }) => company_id ?? [])
}

/** The newest contacts of each of some companies, newest first. @param limit the most of one company */
export async function newestOfEach(
  tenant: Tenant,
  companyIds: readonly string[],
  limit: number,
): Promise<Map<string, string[]>> {
  const ranked = tenant.db
    .selectFrom('contacts')
    .select(['company_id', 'contact_id', 'created_at'])
    .select(
      sql<number>`row_number() OVER (PARTITION BY company_id ORDER BY created_at DESC, contact_id DESC)`.as('place'),
    )
    .where('company_id', '=', sql<string>`any(${companyIds}::uuid[])`)
  const rows = await tenant.db
    .selectFrom(ranked.as('ranked'))
    .select(['company_id', 'contact_id'])
    .where('place', '<=', limit)
    .orderBy('company_id')
    .orderBy('place')
    .execute()
  const byCompany = Map.groupBy(rows, ({ company_id }) => company_id ?? '')
  return new Map([...byCompany].map(([companyId, of]) => [companyId, of.map(({ contact_id }) => contact_id)]))
}

/** Those of some companies that have contacts. */
export async function companiesWithContacts(tenant: Tenant, companyIds: readonly string[]): Promise<Set<string>> {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('company_id')
    .distinct()
    .where('company_id', '=', sql<string>`any(${companyIds}::uuid[])`)
    .execute()
  return new Set(rows.flatMap(({ company_id }) => company_id ?? []))
}

/** The number of contacts of the company whose id a query has. */
export function contactCountOf(companyId: Expression<string>) {
  return expressionBuilder<TenantTables, never>()
    .selectFrom('contacts')
    .select(({ fn }) => fn.countAll().as('contacts'))
    .where('contacts.company_id', '=', companyId)
}
