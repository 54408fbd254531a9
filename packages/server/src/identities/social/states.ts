import type { Tenant } from '../../platform/tenant.ts'

/** How an identity stands with the social network, as its object shows it. */
export interface SocialState {
  connected: boolean
  profile_id: string | null
  /** When the network was asked last. */
  checked_at: string | null
}

/** The state of each identity, also of those that have no profile. The network is not asked. */
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
