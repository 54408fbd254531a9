import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { TenantObject } from '../../../server/src/access/tenant-object.ts'
import { get, send } from './client.ts'

export const tenantQuery = queryOptions({
  queryKey: ['tenant'],
  queryFn: ({ signal }) => get<{ tenant: TenantObject }>('/v1/tenant', {}, signal),
  select: ({ tenant }) => tenant,
})

export function requireSignedIdentification(isRequired: boolean) {
  return send('PATCH', '/v1/tenant', { require_signed_identification: isRequired })
}

export function renameTenant(name: string) {
  return send('PATCH', '/v1/tenant', { name })
}

export function setPersonalProperties(names: string[]) {
  return send('PATCH', '/v1/tenant', { personal_properties: names })
}

/** @returns the new secret, which the service never shows again. */
export function rotateIdentitySecret() {
  return send<{ identity_secret: string }>('POST', '/v1/tenant/identity-secret')
}

export function refreshTenant(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: tenantQuery.queryKey })
}
