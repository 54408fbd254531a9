import type { Tenant } from '../platform/tenant.ts'

/** Limits the cost of querying their events. */
const CONTACTS_MAX = 1_000

/** The ids of the newest contacts of companies, at most 1,000. */
export async function latestContactsOf(tenant: Tenant, companyIds: readonly string[]): Promise<string[]> {
  if (companyIds.length === 0) return []
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('company_id', 'in', companyIds)
    .orderBy('created_at', 'desc')
    .orderBy('contact_id', 'desc')
    .limit(CONTACTS_MAX)
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}
