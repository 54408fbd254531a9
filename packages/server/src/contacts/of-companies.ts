import { sql } from 'kysely'
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

/** The company of each contact that has one. */
export async function companiesOfContacts(tenant: Tenant, contactIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select(['contact_id', 'company_id'])
    .where('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
    .where('company_id', 'is not', null)
    .execute()
  return new Map(rows.map(({ contact_id, company_id }) => [contact_id, company_id ?? '']))
}
