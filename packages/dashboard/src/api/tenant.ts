import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { Tenant } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { Tenant }

export const tenantQuery = queryOptions({
  queryKey: ['tenant'],
  queryFn: ({ signal }) => call('getTenant', {}, signal),
  select: ({ tenant }) => tenant,
})

export function requireSignedIdentification(isRequired: boolean) {
  return call('updateTenant', { require_signed_identification: isRequired })
}

export function renameTenant(name: string) {
  return call('updateTenant', { name })
}

/** @param hide properties that AI agents do not see. @param show those that they see, although they look personal */
export function choosePersonalProperties(hide: string[], show: string[]) {
  return call('updateTenant', { personal_properties: hide, visible_properties: show })
}

export function setIgnoredIds(words: string[]) {
  return call('updateTenant', { ignored_ids: words })
}

/** @param isNow whether it is deleted at once, rather than after seven days. */
export function closeTenant(confirm: string, { isNow = false }: { isNow?: boolean } = {}) {
  return call('closeTenant', { confirm, ...(isNow ? { now: true } : {}) })
}

export function reopenTenant() {
  return call('reopenTenant', {})
}

/** @returns the new secret, which the service never shows again. */
export function rotateIdentitySecret() {
  return call('rotateIdentitySecret', {})
}

export function refreshTenant(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: tenantQuery.queryKey })
}
