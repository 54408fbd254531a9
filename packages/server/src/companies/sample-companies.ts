import { sql } from 'kysely'
import type { Properties } from '../contacts/properties.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Creates companies of sample data, in one statement. @returns the ids of all of them; an existing domain keeps its company. */
export async function loadCompanies(
  tenant: Tenant,
  companies: readonly { name: string; domain: string; properties: Properties }[],
  now: Date,
): Promise<Map<string, string>> {
  const rows = companies.map((company) => ({ ...company, company_id: newId(), created_at: now, updated_at: now }))
  await tenant.db
    .insertInto('companies')
    .values(rows)
    .onConflict((row) => row.columns(['domain']).doNothing())
    .execute()
  const stored = await tenant.db
    .selectFrom('companies')
    .select(['company_id', 'domain'])
    .where('domain', '=', sql<string>`any(${companies.map(({ domain }) => domain)})`)
    .execute()
  return new Map(stored.map(({ company_id, domain }) => [domain ?? '', company_id]))
}
