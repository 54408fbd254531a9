import type { Tenant } from '../platform/tenant.ts'

/** The addresses of the tenant's own mailboxes, in lower case. */
export async function ownAddresses(tenant: Tenant): Promise<Set<string>> {
  const rows = await tenant.db.selectFrom('email_accounts').select('address').execute()
  return new Set(rows.map(({ address }) => address.toLowerCase()))
}
