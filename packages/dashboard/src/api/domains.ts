import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { Domain, ListDomainsInput, VerifyDomainResult } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { Domain }
export type Check = VerifyDomainResult['check']

/** Rows per page. */
export const DOMAINS_LENGTH = 20

/** @param query `verified`: only those that may send events. */
export const domainsQuery = (query: ListDomainsInput) =>
  queryOptions({
    queryKey: ['domains', 'list', query],
    queryFn: ({ signal }) => call('listDomains', query, signal),
    placeholderData: keepPreviousData,
  })

/** @param text a domain, with or without scheme, port and path, as copied from a browser. */
export function addDomain(text: string) {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `http://${text}`)
  return call('addDomain', { domain: url?.hostname || text })
}

/** Looks for a proof in DNS and on the site. */
export function verifyDomain(domain_id: string) {
  return call('verifyDomain', { domain_id })
}

export function removeDomain(domain_id: string) {
  return call('removeDomain', { domain_id })
}

export function refreshDomains(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['domains'] })
}
