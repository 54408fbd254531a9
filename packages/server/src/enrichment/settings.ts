import { cached } from '../platform/cache.ts'
import { announceChange, type Invalidation } from '../platform/postgres/invalidation.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'

/** A tenant's settings of enrichment. */
export interface EnrichmentSettings {
  /** The names of the enrichers that are switched off. */
  off: ReadonlySet<string>
  /** The country of phone numbers without a country code, ISO 3166-1 alpha-2; null if none is set. */
  country: string | null
}

/** Finds a tenant's settings. The service caches them, so that each write may ask. */
export type FindEnrichmentSettings = (tenant: Tenant) => Promise<EnrichmentSettings>

/** The look-up of a running service. */
export function createEnrichmentLookup(stores: Stores, invalidation: Invalidation): FindEnrichmentSettings {
  const find = cached(invalidation, (tenantId) => readEnrichmentSettings(openTenant(stores, tenantId)))
  return ({ id }) => find(id)
}

/** The settings from the database. */
export async function readEnrichmentSettings(tenant: Tenant): Promise<EnrichmentSettings> {
  const row = await tenant.db.selectFrom('enrichment_settings').select(['is_off', 'country']).executeTakeFirst()
  return { off: new Set(row?.is_off), country: row?.country ?? null }
}

/** Changes the settings. @param switches which enrichers to switch on or off, by name. */
export async function changeEnrichmentSettings(
  tx: Tenant,
  switches: Readonly<Record<string, boolean>>,
  country: string | null | undefined,
): Promise<EnrichmentSettings> {
  const inserting = tx.db.insertInto('enrichment_settings').values({ country: null })
  // There must be a row to lock.
  await inserting.onConflict((row) => row.columns([]).doNothing()).execute()
  const before = await tx.db
    .selectFrom('enrichment_settings')
    .select(['is_off', 'country'])
    .forUpdate()
    .executeTakeFirstOrThrow()
  const off = new Set(before.is_off)
  for (const [name, isOn] of Object.entries(switches)) {
    if (isOn) off.delete(name)
    else off.add(name)
  }
  const after = { off, country: country === undefined ? before.country : country }
  await tx.db
    .updateTable('enrichment_settings')
    .set({ is_off: [...off].sort(), country: after.country })
    .execute()
  await announceChange(tx.db)
  return after
}
