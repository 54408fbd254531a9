import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'

/** The name of the file of the import that first wrote each contact. Contacts that no import wrote are absent. */
export async function filesOfContacts(tenant: Tenant, contactIds: readonly string[]): Promise<Map<string, string>> {
  if (contactIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('import_changes')
    .innerJoin('imports', 'imports.import_id', 'import_changes.import_id')
    .select(['import_changes.contact_id', 'imports.file_name'])
    .distinctOn('import_changes.contact_id')
    .where('import_changes.contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
    .where('import_changes.is_undone', '=', false)
    .orderBy('import_changes.contact_id')
    .orderBy('import_changes.position')
    .execute()
  return new Map(rows.map(({ contact_id, file_name }) => [contact_id, file_name]))
}
