import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { Domain, ListDomainsInput, VerifyDomainResult } from '../../../client/src/generated/types.gen.ts'
import { hostOf } from '../ui/readable-address.ts'
import { call } from './client.ts'

export type { Domain }
export type Check = VerifyDomainResult['check']

/** @param query `verified`: only those that may send events. */
export const domainsQuery = (query: ListDomainsInput) =>
  queryOptions({
    queryKey: ['domains', 'list', query],
    queryFn: ({ signal }) => call('listDomains', query, signal),
    placeholderData: keepPreviousData,
  })

export function addDomain(text: string) {
  return call('addDomain', { domain: hostOf(text) })
}

export function refreshDomains(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['domains'] })
}
