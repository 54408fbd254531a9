import type { Tenant } from '../../platform/tenant.ts'

/** The identity's stored profile; null if there is none or the identity does not exist. */
export async function profileOf(tenant: Tenant, identityId: string): Promise<string | null> {
  const row = await tenant.db
    .selectFrom('social_profiles')
    .select('profile_id')
    .where('identity_id', '=', identityId)
    .executeTakeFirst()
  return row?.profile_id ?? null
}

/** Stores the profile of a completed login. */
export async function storeProfile(tenant: Tenant, identityId: string, profileId: string, now: Date): Promise<void> {
  const state = { profile_id: profileId, connected: true, checked_at: now, updated_at: now }
  await tenant.db
    .insertInto('social_profiles')
    .values({ identity_id: identityId, ...state, created_at: now })
    .onConflict((existing) => existing.column('identity_id').doUpdateSet(state))
    .execute()
}

/**
 * Stores the result of a session check. It has no effect if a login has replaced the profile since, or a
 * newer result is stored.
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

/** The social-network state of an identity. */
export interface SocialState {
  connected: boolean
  profile_id: string | null
  /** When the network was last asked. */
  checked_at: string | null
}

/** The stored state of each identity, including those without a profile. */
export async function socialStates(tenant: Tenant, identityIds: readonly string[]): Promise<Map<string, SocialState>> {
  const states = new Map<string, SocialState>()
  for (const id of identityIds) states.set(id, { connected: false, profile_id: null, checked_at: null })
  if (identityIds.length === 0) return states
  const rows = await tenant.db
    .selectFrom('social_profiles')
    .select(['identity_id', 'profile_id', 'connected', 'checked_at'])
    .where('identity_id', 'in', identityIds)
    .execute()
  for (const { identity_id, profile_id, connected, checked_at } of rows) {
    states.set(identity_id, { connected, profile_id, checked_at: checked_at.toISOString() })
  }
  return states
}
