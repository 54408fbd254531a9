import { sql } from 'kysely'
import type { Tenant } from '../../platform/tenant.ts'

/** Whether a computed property of contacts with this name is a score. */
export async function isScoreOfContacts(tenant: Tenant, name: string): Promise<boolean> {
  const row = await tenant.db
    .selectFrom('computed_properties')
    .select('name')
    .where('entity', '=', 'contacts')
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`definition ? 'score'`)
    .executeTakeFirst()
  return row !== undefined
}
