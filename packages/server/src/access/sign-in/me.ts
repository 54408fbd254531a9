import type { Static } from 'typebox'
import type { Config } from '../../config.ts'
import { scopesOf } from '../../operations/scopes.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { RENEW_AFTER_SECONDS, SESSION_SECONDS, type SignedIn } from '../sessions.ts'
import { profileOf } from '../tenants-of-person.ts'
import type { Me } from './schema.ts'

const RENEW_BELOW_MS = (SESSION_SECONDS - RENEW_AFTER_SECONDS) * 1000

/** Whether to renew a session: at most once a day, by /api/me, which every visit requests. */
export function isRenewalDue(expiresAt: Date, now: Date): boolean {
  return expiresAt.getTime() - now.getTime() < RENEW_BELOW_MS
}

/** What the dashboard shows of the signed-in person, and what they may do in the tenant of their session. */
export async function meOf(
  database: Database,
  { user, membership }: SignedIn,
  oidc: Config['oidc'],
): Promise<Static<typeof Me>> {
  const { tenants, hasPassword } = await profileOf(database, user.id)
  const active = tenants.find(({ tenant_id }) => tenant_id === membership?.tenantId)
  return {
    status: 'success',
    user: {
      user_id: user.id,
      email: user.email,
      email_verified: user.emailVerified,
      name: user.name,
      two_factor_enabled: user.twoFactorEnabled,
      has_password: hasPassword,
    },
    tenant: active
      ? { tenant_id: active.tenant_id, name: active.name, time_zone: active.time_zone, closed: active.closed }
      : null,
    tenants,
    role: membership?.role ?? null,
    scopes: membership ? [...scopesOf(membership.role)] : [],
    sign_in: { oidc: { enabled: oidc !== null, label: oidc?.label ?? null } },
  }
}
