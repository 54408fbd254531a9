import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { ENRICHMENT } from './writing/source-records.ts'

/** Of some contacts, those without a country and a city that somebody else than enrichment said. */
export async function withoutOwnPlace(tenant: Tenant, contactIds: readonly string[]): Promise<string[]> {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
    .where(sql<boolean>`NOT (${isStated('country')} AND ${isStated('city')})`)
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}

/** Whether a property has a value that enrichment did not fill. A value without provenance counts as stated. */
function isStated(key: string) {
  const source = sql`properties_provenance -> ${sql.lit(key)} ->> 'source'`
  return sql`(coalesce(properties ->> ${sql.lit(key)}, '') <> '' AND ${source} IS DISTINCT FROM ${ENRICHMENT})`
}
