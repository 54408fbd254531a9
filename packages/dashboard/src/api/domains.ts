import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Check, Domain } from '../../../server/src/access/domain-operations.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, send } from './client.ts'

export type { Check, Domain }

/** Rows per page. */
export const DOMAINS_LENGTH = 20

/** @param query `verified`: only those that may send events. */
export const domainsQuery = (query: { page?: number; limit: number; verified?: boolean }) =>
  queryOptions({
    queryKey: ['domains', 'list', query],
    queryFn: ({ signal }) =>
      get<{ domains: Domain[]; pagination: Type.Static<typeof Pagination> }>('/v1/domains', query, signal),
    placeholderData: keepPreviousData,
  })

/** @param text a domain, with or without scheme, port and path, as copied from a browser. */
export function addDomain(text: string) {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `http://${text}`)
  return send<{ domain: Domain }>('POST', '/v1/domains', { domain: url?.hostname || text })
}

/** Looks for a proof in DNS and on the site. */
export function verifyDomain(domainId: string) {
  return send<{ domain: Domain; check: Check }>('POST', `/v1/domains/${encodeURIComponent(domainId)}/verify`)
}

export function removeDomain(domainId: string) {
  return send('DELETE', `/v1/domains/${encodeURIComponent(domainId)}`)
}

export function refreshDomains(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['domains'] })
}
