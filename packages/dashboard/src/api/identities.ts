import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { IdentityConnections } from '../../../server/src/identities/connections.ts'
import type { EmailAccountInput } from '../../../server/src/identities/email-account-input.ts'
import type { IdentityObject } from '../../../server/src/identities/identity-object.ts'
import type { Check, LoginStatus } from '../../../server/src/identities/social/requests.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, send } from './client.ts'

export type { EmailAccountInput, IdentityConnections }
export type Identity = IdentityObject
type Page = { pagination: Type.Static<typeof Pagination> }
export type EmailAccount = NonNullable<IdentityConnections['email_account']>

export interface SocialLogin {
  username?: string
  password?: string
  country?: string
  max_verification_wait_time?: number
}

/** Rows per page. */
export const IDENTITIES_LENGTH = 50

export const identitiesQuery = (query: { page?: number; limit: number; search?: string | undefined }) =>
  queryOptions({
    queryKey: ['identities', 'list', query],
    queryFn: ({ signal }) => get<{ identities: Identity[] } & Page>('/v1/identities', query, signal),
    placeholderData: keepPreviousData,
  })

export const identityQuery = (identityId: string) =>
  queryOptions({
    queryKey: ['identities', 'one', identityId],
    queryFn: ({ signal }) => get<{ identity: Identity }>(path(identityId), {}, signal),
    select: ({ identity }) => identity,
  })

export const connectionsQuery = (identityId: string) =>
  queryOptions({
    queryKey: ['identities', 'connections', identityId],
    queryFn: ({ signal }) => get<{ connections: IdentityConnections }>(`${path(identityId)}/connections`, {}, signal),
    select: ({ connections }) => connections,
  })

/** The status of a login, polled every 2.5 seconds until it ends. */
export const socialStatusQuery = (identityId: string, sessionId: string) =>
  queryOptions({
    queryKey: ['identities', 'social-status', identityId, sessionId],
    queryFn: ({ signal }) =>
      get<LoginStatus>(`${path(identityId)}/social/status/${encodeURIComponent(sessionId)}`, {}, signal),
    refetchInterval: ({ state }) => (state.data && isEnded(state.data.status) ? false : 2_500),
  })

export function createIdentity(identity: { firstName: string; lastName: string; role: string }) {
  return send<{ identity: Identity }>('POST', '/v1/identities', identity)
}

export function updateIdentity(identityId: string, changes: Record<string, string>) {
  return send<{ identity: Identity }>('PUT', path(identityId), changes)
}

export function deleteIdentity(identityId: string) {
  return send('DELETE', path(identityId))
}

/** Stores the mailbox after the service has logged in to both servers. */
export function setEmailAccount(identityId: string, account: EmailAccountInput) {
  return send<{ email_account: EmailAccount }>('PUT', `${path(identityId)}/email-account`, account)
}

export function checkEmailAccount(identityId: string) {
  return send<{ email_account: EmailAccount }>('POST', `${path(identityId)}/email-account/check`)
}

export function removeEmailAccount(identityId: string) {
  return send('DELETE', `${path(identityId)}/email-account`)
}

export function startSocialLogin(identityId: string, login: SocialLogin) {
  return send<Pick<LoginStatus, 'login_result'>>('POST', `${path(identityId)}/social/login`, login)
}

export function sendSocialCode(identityId: string, sessionId: string, code: string) {
  return send('POST', `${path(identityId)}/social/code/${encodeURIComponent(sessionId)}`, { code })
}

export function checkSocial(identityId: string) {
  return get<Check>(`${path(identityId)}/social/check`)
}

export function isEnded(status: string): boolean {
  return status === 'completed' || status === 'failed'
}

export function identityName({ firstName, lastName }: Pick<Identity, 'firstName' | 'lastName'>): string {
  return `${firstName} ${lastName}`
}

export function refreshIdentities(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['identities'] })
}

function path(identityId: string): string {
  return `/v1/identities/${encodeURIComponent(identityId)}`
}
