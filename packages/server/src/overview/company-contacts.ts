import type { Tenant } from '../platform/tenant.ts'

/** Limits the cost of querying their events. */
const CONTACTS_MAX = 1_000

/** The ids of a company's newest contacts, at most 1,000. */
export async function latestContactsOf(tenant: Tenant, companyId: string): Promise<string[]> {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('company_id', '=', companyId)
    .orderBy('created_at', 'desc')
    .orderBy('contact_id', 'desc')
    .limit(CONTACTS_MAX)
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}
