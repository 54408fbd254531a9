import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { Tenant } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { Tenant }

export const tenantQuery = queryOptions({
  queryKey: ['tenant'],
  queryFn: ({ signal }) => call('GET /v1/tenant', {}, signal),
  select: ({ tenant }) => tenant,
})

export function requireSignedIdentification(isRequired: boolean) {
  return call('PATCH /v1/tenant', { require_signed_identification: isRequired })
}

export function renameTenant(name: string) {
  return call('PATCH /v1/tenant', { name })
}

/** @param hide properties that AI agents do not see. @param show those that they see, although they look personal */
export function choosePersonalProperties(hide: string[], show: string[]) {
  return call('PATCH /v1/tenant', { personal_properties: hide, visible_properties: show })
}

export function setIgnoredIds(words: string[]) {
  return call('PATCH /v1/tenant', { ignored_ids: words })
}

/** @param isNow whether it is deleted at once, rather than after seven days. */
export function closeTenant(confirm: string, { isNow = false }: { isNow?: boolean } = {}) {
  return call('DELETE /v1/tenant', { confirm, ...(isNow ? { now: true } : {}) })
}

export function reopenTenant() {
  return call('POST /v1/tenant/reopen', {})
}

/** @returns the new secret, which the service never shows again. */
export function rotateIdentitySecret() {
  return call('POST /v1/tenant/identity-secret', {})
}

export function refreshTenant(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: tenantQuery.queryKey })
}
