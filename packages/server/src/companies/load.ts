import type { Tenant } from '../platform/tenant.ts'

/** Inserts companies directly, without events: for sample data. Companies whose domain is known are left out. */
export async function loadCompanies(
  tenant: Tenant,
  companies: readonly { companyId: string; name: string; domain: string; properties: Record<string, unknown> }[],
  now: Date,
): Promise<void> {
  const rows = companies.map(({ companyId, name, domain, properties }) => ({
    company_id: companyId,
    name,
    domain,
    properties: JSON.stringify(properties),
    created_at: now,
    updated_at: now,
  }))
  await tenant.db
    .insertInto('companies')
    .values(rows)
    .onConflict((row) => row.columns(['domain']).doNothing())
    .execute()
}

/** The ids of all companies, by domain. */
export async function companiesOfDomains(tenant: Tenant): Promise<Map<string | null, string>> {
  const rows = await tenant.db.selectFrom('companies').select(['company_id', 'domain']).execute()
  return new Map(rows.map((row) => [row.domain, row.company_id]))
}
