import { propertyNameOf } from '../../contacts/property-names.ts'
import { normalizeEmail, SENT_ADDRESS_LENGTH_MAX } from '../../platform/email.ts'
import { ID_LENGTH_MAX } from '../../platform/ids.ts'
import { type IgnoredIds, namesNobody } from '../../platform/ids-of-nobody.ts'
import { sendingHost } from '../track/location.ts'
import { domainNotAllowed, type FindTenantOfHost } from '../track/page.ts'

/**
 * Only pages of the tenant that the path names may submit its forms. An unknown tenant gets the same response as a
 * foreign domain, so that nobody learns which tenants exist.
 * @returns the tenant's id. @throws ServiceError 403 `domain_not_allowed`.
 */
export async function requirePageOfForm(
  headers: Parameters<typeof sendingHost>[0],
  tenantInPath: string,
  findTenantOfHost: FindTenantOfHost,
): Promise<string> {
  const host = sendingHost(headers)
  const tenantId = host === null ? null : await findTenantOfHost(host)
  if (tenantId === null || tenantId !== tenantInPath.toLowerCase()) throw domainNotAllowed(host)
  return tenantId
}

/**
 * The visitor and email address in a body that is not validated yet: submissions are limited per person. Longer texts
 * are cut to the limit.
 */
export function personsNamed(body: unknown, ignored: IgnoredIds): string[] {
  const { visitor_id, contact_data } = (body ?? {}) as { visitor_id?: unknown; contact_data?: object | null }
  // `Email` counts as `email`.
  const emails = Object.entries(contact_data ?? {}).filter(([key]) => propertyNameOf(key) === 'email')
  return [
    ...(typeof visitor_id === 'string' && !namesNobody(visitor_id, ignored)
      ? [`visitor ${visitor_id.slice(0, ID_LENGTH_MAX)}`]
      : []),
    ...emails.flatMap(([, email]) =>
      typeof email === 'string' ? [`email ${normalizeEmail(email).slice(0, SENT_ADDRESS_LENGTH_MAX)}`] : [],
    ),
  ]
}
