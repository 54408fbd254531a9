import { queryOptions } from '@tanstack/react-query'
import type {
  InvitationResponse,
  MeResponse,
  SignInOptionsResponse,
} from '../../../server/src/access/sign-in/schema.ts'
import type { Role } from '../../../server/src/operations/roles.ts'
import { get, send } from '../api/client.ts'
import { setTimeZone } from './time-zone.ts'

export type { Role }
export type Me = MeResponse

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => {
    const me = await get<Me>('/api/me', {}, signal)
    setTimeZone(me.tenant?.time_zone)
    return me
  },
  staleTime: 5 * 60_000,
})

export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: ({ signal }) => get<SignInOptionsResponse>('/api/sign-in-options', {}, signal),
})

export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => get<InvitationResponse>(`/api/invitations/${encodeURIComponent(token)}`, {}, signal),
  })

/** The next step of a sign-in. */
export interface SignInStep {
  /** Whether a second-factor code is needed. */
  needsCode: boolean
  /** The tenants of several accounts with this password, to choose from. */
  tenants: { tenant_id: string; name: string }[]
}

/** @param tenantId one of the tenants that an earlier step named. */
export async function signIn(email: string, password: string, tenantId?: string): Promise<SignInStep> {
  const body = { email, password, ...(tenantId === undefined ? {} : { tenant_id: tenantId }) }
  const response = await send<{ twoFactorRedirect?: boolean; tenants?: SignInStep['tenants'] }>(
    'POST',
    '/api/auth/sign-in/email',
    body,
  )
  return { needsCode: response.twoFactorRedirect === true, tenants: response.tenants ?? [] }
}

/** @param kind a code from an authenticator, or a backup code. */
export function verifyCode(code: string, kind: 'totp' | 'backup-code'): Promise<unknown> {
  return send('POST', `/api/auth/two-factor/verify-${kind}`, { code })
}

export function signOut(): Promise<unknown> {
  return send('POST', '/api/auth/sign-out', {})
}

/** Starts a sign-in with the organization's own provider. @returns the URL to open. */
export async function startOidc(callbackURL: string): Promise<string> {
  const body = { providerId: 'oidc', callbackURL }
  const { url } = await send<{ url: string }>('POST', '/api/auth/sign-in/oauth2', body)
  return url
}

export function requestPasswordReset(email: string): Promise<unknown> {
  return send('POST', '/api/auth/request-password-reset', { email })
}

export function resetPassword(token: string, newPassword: string): Promise<unknown> {
  return send('POST', '/api/auth/reset-password', { token, newPassword })
}

export function setUp(
  token: string,
  owner: { name: string; email: string; password: string; tenant_name: string; time_zone: string },
): Promise<unknown> {
  return send('POST', '/api/setup', { setup_token: token, ...owner })
}

export function acceptInvitation(token: string, account: { name?: string; password?: string }): Promise<unknown> {
  return send('POST', `/api/invitations/${encodeURIComponent(token)}/accept`, account)
}

export function switchTenant(tenantId: string): Promise<unknown> {
  return send('POST', '/api/tenant', { tenant_id: tenantId })
}

/** @param timeZone an IANA name, such as that of the browser. */
export function createTenant(name: string, timeZone: string) {
  return send<{ tenant_id: string }>('POST', '/api/tenants', { name, time_zone: timeZone })
}
