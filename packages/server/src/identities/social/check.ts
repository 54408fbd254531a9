import type { Tenant } from '../../platform/tenant.ts'
import { profileOf, storeCheck } from './profiles.ts'
import type { Check } from './requests.ts'
import { requireIdentity, type SendDependencies, toServiceError } from './send.ts'

/**
 * Checks with the network whether the identity's session is still valid, and stores the result.
 * @throws ServiceError 404 for an unknown identity, 503 `social_unavailable`.
 */
export async function checkSocial(
  tenant: Tenant,
  { social, clock }: SendDependencies,
  identityId: string,
): Promise<Check> {
  await requireIdentity(tenant, identityId)
  const profileId = await profileOf(tenant, identityId)
  // Read before the request, so that the result never looks newer than a login that ends during it.
  const now = clock()
  if (profileId === null) return { connected: false, profile_id: null, checked_at: now.toISOString() }
  const connected = await social.check(tenant, profileId).catch((error) => {
    throw toServiceError(error)
  })
  await storeCheck(tenant, identityId, profileId, connected, now)
  return { connected, profile_id: profileId, checked_at: now.toISOString() }
}
