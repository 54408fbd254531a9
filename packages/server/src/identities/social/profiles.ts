import type { Tenant } from '../../platform/tenant.ts'

/** The identity's stored profile, or null; also null where there is no such identity. */
export async function profileOf(tenant: Tenant, identityId: string): Promise<string | null> {
  const row = await tenant.db
    .selectFrom('social_profiles')
    .select('profile_id')
    .where('identity_id', '=', identityId)
    .executeTakeFirst()
  return row?.profile_id ?? null
}

/** Keeps the profile that a login has connected. */
export async function storeProfile(tenant: Tenant, identityId: string, profileId: string, now: Date): Promise<void> {
  const state = { profile_id: profileId, connected: true, checked_at: now, updated_at: now }
  await tenant.db
    .insertInto('social_profiles')
    .values({ identity_id: identityId, ...state, created_at: now })
    .onConflict((existing) => existing.column('identity_id').doUpdateSet(state))
    .execute()
}

/**
 * Writes down what the network said of a profile's session. A profile that a login has replaced meanwhile is left
 * alone, and so is an answer that is newer.
 */
export async function storeCheck(
  tenant: Tenant,
  identityId: string,
  profileId: string,
  connected: boolean,
  now: Date,
): Promise<void> {
  await tenant.db
    .updateTable('social_profiles')
    .set({ connected, checked_at: now, updated_at: now })
    .where('identity_id', '=', identityId)
    .where('profile_id', '=', profileId)
    .where('checked_at', '<=', now)
    .execute()
}
