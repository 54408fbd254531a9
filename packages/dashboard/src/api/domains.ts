import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { Check, Domain } from '../../../server/src/dashboard/domain-routes.ts'
import { get, send } from './client.ts'

export type { Check, Domain }

export const domainsQuery = queryOptions({
  queryKey: ['domains', 'list'],
  queryFn: ({ signal }) => get<{ domains: Domain[] }>('/api/domains', {}, signal),
  select: ({ domains }) => domains,
})

export function addDomain(domain: string) {
  return send<{ domain: Domain }>('POST', '/api/domains', { domain })
}

/** Asks DNS whether the record is there. */
export function checkDomain(domainId: string) {
  return send<{ domain: Domain; check: Check }>('POST', `/api/domains/${encodeURIComponent(domainId)}/check`)
}

export function removeDomain(domainId: string) {
  return send('DELETE', `/api/domains/${encodeURIComponent(domainId)}`)
}

export function refreshDomains(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['domains'] })
}
