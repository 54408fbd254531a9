import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  CompleteAuthorizationInput,
  OAuthClient,
  StartAuthorizationInput,
} from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { OAuthClient }
export type Purpose = StartAuthorizationInput['purpose']

export const oauthClientsQuery = queryOptions({
  queryKey: ['oauth-clients'],
  queryFn: ({ signal }) => call('listOAuthClients', {}, signal),
  select: ({ oauth_clients }) => oauth_clients,
})

export function setOAuthClient(provider: string, client: { client_id: string; client_secret: string }) {
  return call('setOAuthClient', { provider, ...client })
}

export function refreshOAuthClients(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: oauthClientsQuery.queryKey })
}

/** @returns the URL where the person signs in. */
export async function startAuthorization(provider: string, purpose: Purpose): Promise<string> {
  const { authorization_url } = await call('startAuthorization', { provider, purpose })
  return authorization_url
}

/** The parameters that the provider may add to the redirect URL. */
const REDIRECTED = ['state', 'code', 'iss', 'error', 'error_description']

/** Completes a sign-in. This works only once, so the result is cached and the request is never repeated. */
export const completionQuery = (query: string) =>
  queryOptions({
    queryKey: ['authorization', query],
    queryFn: () => {
      const sent = [...new URLSearchParams(query)].filter(([name]) => REDIRECTED.includes(name))
      return call('completeAuthorization', Object.fromEntries(sent) as CompleteAuthorizationInput)
    },
    enabled: query !== '',
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
