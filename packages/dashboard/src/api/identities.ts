import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  CreateIdentityInput,
  EmailAccount,
  Identity,
  IdentityConnections,
  ListIdentitiesInput,
  SetEmailAccountInput,
  SocialLoginInput,
  UpdateIdentityInput,
} from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { EmailAccount, Identity, IdentityConnections }

type Of<Input> = Omit<Input, 'identity_id'>
export type EmailAccountInput = Of<SetEmailAccountInput>

/** Rows per page. */
export const IDENTITIES_LENGTH = 50

export const identitiesQuery = (query: ListIdentitiesInput) =>
  queryOptions({
    queryKey: ['identities', 'list', query],
    queryFn: ({ signal }) => call('listIdentities', query, signal),
    placeholderData: keepPreviousData,
  })

export const identityQuery = (identity_id: string) =>
  queryOptions({
    queryKey: ['identities', 'one', identity_id],
    queryFn: ({ signal }) => call('getIdentity', { identity_id }, signal),
    select: ({ identity }) => identity,
  })

export const connectionsQuery = (identity_id: string) =>
  queryOptions({
    queryKey: ['identities', 'connections', identity_id],
    queryFn: ({ signal }) => call('getIdentityConnections', { identity_id }, signal),
    select: ({ connections }) => connections,
  })

/** The status of a login, polled every 2.5 seconds until it ends. */
export const socialStatusQuery = (identity_id: string, session_id: string) =>
  queryOptions({
    queryKey: ['identities', 'social-status', identity_id, session_id],
    queryFn: ({ signal }) => call('socialLoginStatus', { identity_id, session_id }, signal),
    refetchInterval: ({ state }) => (state.data && isEnded(state.data.status) ? false : 2_500),
  })

export function createIdentity(identity: CreateIdentityInput) {
  return call('createIdentity', identity)
}

export function updateIdentity(identity_id: string, changes: Of<UpdateIdentityInput>) {
  return call('updateIdentity', { identity_id, ...changes })
}

export function deleteIdentity(identity_id: string) {
  return call('deleteIdentity', { identity_id })
}

/** Stores the mailbox after the service has logged in to both servers. */
export function setEmailAccount(identity_id: string, account: EmailAccountInput) {
  return call('setEmailAccount', { identity_id, ...account })
}

export function checkEmailAccount(identity_id: string) {
  return call('checkEmailAccount', { identity_id })
}

export function removeEmailAccount(identity_id: string) {
  return call('removeEmailAccount', { identity_id })
}

export function socialLogin(identity_id: string, login: Of<SocialLoginInput>) {
  return call('socialLogin', { identity_id, ...login })
}

export function socialLoginCode(identity_id: string, session_id: string, code: string) {
  return call('socialLoginCode', { identity_id, session_id, code })
}

export function socialCheck(identity_id: string) {
  return call('socialCheck', { identity_id })
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
