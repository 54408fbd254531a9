import { notFound, ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { contactMerged, emailTaken, missingContact } from './aliases.ts'
import { etagOfRow } from './contact-object.ts'
import type { ContactRow } from './contact-row.ts'
import { lockContact } from './locks.ts'
import type { PropertyChanges } from './properties.ts'
import { createContact as addContact, changeContact } from './writing/change.ts'
import type { ContactSet } from './writing/contact-set.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from './writing/transaction.ts'
import { linkVisitors } from './writing/visitors.ts'
import type { WriteServices } from './writing/writer.ts'

/** The source for writes by people and programs to the contacts' endpoints. */
const MANUAL = { source: 'manual', kind: 'manual' } as const

export interface NewContact {
  email: string
  properties: PropertyChanges
  visitorIds: string[]
  companyId: string | null
}

export interface ContactUpdate {
  /** null is rejected: a contact with an email must keep one. */
  email?: string
  properties: PropertyChanges
  visitorIds: string[]
  /** undefined: unchanged. */
  companyId?: string | null
}

/**
 * Creates a contact with its source record, visitors and event, all or nothing.
 * @throws ServiceError 409 `contact_email_taken`, 400 `unknown_company`.
 */
export async function createContact(
  tenant: Tenant,
  services: WriteServices,
  { email, properties, visitorIds, companyId }: NewContact,
): Promise<ContactRow> {
  return services.writer.write(tenant, {
    keys: { emails: [email], visitorIds },
    async apply(set, { tx, now }) {
      await requireCompany(tx, services, companyId)
      const taken = set.find('email', email)
      if (taken) throw emailTaken(taken.row.contact_id)
      const { state } = addContact(set, { email, externalId: null }, { ...MANUAL, properties, companyId }, now)
      linkVisitors(set, visitorIds, state, MANUAL.source, now)
      return state.row
    },
  })
}

/**
 * Changes a contact. Sent properties are merged into the existing ones; a null removes a key.
 * @param requireMatch checks the ETag of the contact once it is locked.
 * @throws ServiceError 404, 409 `contact_email_taken`, 400 `unknown_company` or too many properties.
 */
export async function updateContact(
  tenant: Tenant,
  services: WriteServices,
  contactId: string,
  { visitorIds, ...update }: ContactUpdate,
  requireMatch: (etag: string) => void,
): Promise<ContactRow> {
  return services.writer.write(tenant, {
    keys: {
      contactIds: [contactId],
      visitorIds,
      ...(update.email === undefined ? {} : { emails: [update.email] }),
    },
    async apply(set, { tx, now }) {
      await requireCompany(tx, services, update.companyId)
      const state = set.contact(contactId)
      if (!state) throw missing(set, contactId)
      requireMatch(etagOfRow(state.row, set.computed))
      changeContact(set, state, { ...MANUAL, ...update }, now)
      linkVisitors(set, visitorIds, state, MANUAL.source, now)
      return state.row
    },
  })
}

/** Keeps the company of a write from being deleted. @throws ServiceError 400 `unknown_company`. */
async function requireCompany(
  tx: Tenant,
  { keepCompany }: WriteServices,
  companyId: string | null | undefined,
): Promise<void> {
  if (typeof companyId !== 'string' || (await keepCompany(tx, companyId))) return
  const details = [{ path: 'company_id', message: 'is not the id of one of your companies' }]
  throw new ServiceError(400, 'unknown_company', 'There is no company with this company_id.', { details })
}

/** 404 for a contact that does not exist; names the survivor if it was merged. */
function missing(set: ContactSet, contactId: string): ServiceError {
  const survivor = set.survivorOf(contactId)
  return survivor ? contactMerged(contactId, survivor.row.contact_id) : notFound('contact')
}

/**
 * Deletes a contact with its notes, source records and conversations without other contacts. Its events remain; its
 * visitors become anonymous again.
 * @param requireMatch checks the ETag of the contact once it is locked.
 * @throws ServiceError 404.
 */
export async function deleteContact(
  tenant: Tenant,
  dependencies: WriteDependencies,
  contactId: string,
  requireMatch: (etag: string) => void,
): Promise<void> {
  const now = dependencies.clock()
  await changeContacts(tenant, dependencies, async (tx, log) => {
    const row = await lockContact(tx, contactId)
    if (!row) throw await missingContact(tx, contactId)
    requireMatch(etagOfRow(row, (await dependencies.findComputedNames(tx)).contacts))
    for (const { release } of dependencies.tables) await release?.(tx, contactId, now)
    await deleteUnused(tx, log, dependencies, [contactId], now)
  })
}

/** Deletes contacts without visitors and conversations, whose rows the caller has locked. */
export async function deleteUnused(
  tx: Tenant,
  log: ChangeLog,
  { segments }: Pick<WriteDependencies, 'segments'>,
  contactIds: readonly string[],
  now: Date,
): Promise<void> {
  if (contactIds.length === 0) return
  log.events.push(...(await segments.leave(tx, contactIds)))
  await tx.db.deleteFrom('contacts').where('contact_id', 'in', contactIds).execute()
  const deleted = contactIds.map((contactId) => ({ event: 'contact_deleted', at: now, contactId, data: {} }) as const)
  log.events.push(...deleted)
}
