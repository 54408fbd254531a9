import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { OAuthClient } from '../../../server/src/providers/clients.ts'
import type { Purpose } from '../../../server/src/providers/purpose.ts'
import { get, send } from './client.ts'

export type { OAuthClient, Purpose }

export const oauthClientsQuery = queryOptions({
  queryKey: ['oauth-clients'],
  queryFn: ({ signal }) => get<{ oauth_clients: OAuthClient[] }>('/v1/oauth-clients', {}, signal),
  select: ({ oauth_clients }) => oauth_clients,
})

export function setOAuthClient(provider: string, client: { client_id: string; client_secret: string }) {
  return send<{ oauth_client: OAuthClient }>('PUT', path(provider), client)
}

export function deleteOAuthClient(provider: string) {
  return send('DELETE', path(provider))
}

export function refreshOAuthClients(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: oauthClientsQuery.queryKey })
}

/** @returns the URL where the person signs in. */
export async function startAuthorization(provider: string, purpose: Purpose): Promise<string> {
  const body = { provider, purpose }
  const { authorization_url } = await send<{ authorization_url: string }>('POST', '/v1/authorizations', body)
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
      return send<{ provider: string; path: string }>('POST', '/v1/authorizations/complete', Object.fromEntries(sent))
    },
    enabled: query !== '',
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })

function path(provider: string): string {
  return `/v1/oauth-clients/${encodeURIComponent(provider)}`
}
