import { changeContact, lockContact } from '../contacts/change.ts'
import { changeContacts, type WriteDependencies } from '../contacts/change-log.ts'
import { ignoredWarnings } from '../contacts/ignored-properties.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type CompanyOfGroup, upsertCompany } from './write.ts'

/**
 * Finds or creates a company, and makes a contact its member. What an unverified sender says neither overrides values of
 * the company nor replaces the contact's company.
 * @returns warnings about what was ignored.
 */
export async function joinCompany(
  tenant: Tenant,
  dependencies: WriteDependencies,
  contactId: string,
  company: CompanyOfGroup,
  trust: 'verified' | 'unverified',
): Promise<string[]> {
  const now = dependencies.clock()
  const isVerified = trust === 'verified'
  const source = isVerified ? 'identify' : 'tracker'
  return changeContacts(tenant, dependencies, async (tx, log) => {
    const { companyId, ignored } = await upsertCompany(tx, company, { isVerified }, now)
    const stored = await lockContact(tx, contactId)
    if (!stored) throw new ServiceError(404, 'unknown_contact', 'The contact has been deleted.')
    await changeContact(tx, log, stored, { source, kind: source, properties: {}, companyId }, now)
    return ignoredWarnings([...ignored.map((key) => `company.${key}`), ...log.ignored])
  })
}
