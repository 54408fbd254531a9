import type { Tenant } from '../platform/tenant.ts'
import { EMAIL, emailTaken, missingContact, survivorOf } from './aliases.ts'
import { changeContact, contactOfEmail, insertContact, lockContact } from './change.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from './change-log.ts'
import { etagOfRow } from './contact-object.ts'
import type { ContactRow } from './contact-row.ts'
import type { PropertyChanges } from './properties.ts'
import { linkVisitors, unlinkVisitors } from './visitors/link.ts'

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
 * Creates a contact with its source record, visitors and event, all or nothing. Call registerVisitors first.
 * @throws ServiceError 409 `contact_email_taken`, 400 `unknown_company`.
 */
export async function createContact(
  tenant: Tenant,
  dependencies: WriteDependencies,
  { email, properties, visitorIds, companyId }: NewContact,
): Promise<ContactRow> {
  const now = dependencies.clock()
  return changeContacts(tenant, dependencies, async (tx, log) => {
    const write = { ...MANUAL, properties, companyId }
    const row = await insertContact(tx, log, { email, externalId: null }, write, now)
    if (!row) throw await emailTakenBy(tx, email)
    return withVisitors(tx, log, row, visitorIds, now)
  })
}

/**
 * Changes a contact. Sent properties are merged into the existing ones; a null removes a key. Call registerVisitors
 * first.
 * @param requireMatch checks the ETag of the contact once it is locked.
 * @throws ServiceError 404, 409 `contact_email_taken`, 400 `unknown_company` or too many properties.
 */
export async function updateContact(
  tenant: Tenant,
  dependencies: WriteDependencies,
  contactId: string,
  { visitorIds, ...update }: ContactUpdate,
  requireMatch: (etag: string) => void,
): Promise<ContactRow> {
  const now = dependencies.clock()
  return changeContacts(tenant, dependencies, async (tx, log) => {
    const before = await lockContact(tx, contactId)
    if (!before) throw await missingContact(tx, contactId)
    requireMatch(etagOfRow(before))
    const row = await changeContact(tx, log, before, { ...MANUAL, ...update }, now)
    return withVisitors(tx, log, row, visitorIds, now)
  })
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
    requireMatch(etagOfRow(row))
    await unlinkVisitors(tx, contactId, MANUAL.source, now)
    await dependencies.deleteConversations(tx, contactId)
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

/** Links visitors to a contact. @returns the contact with the first touch of these visitors. */
async function withVisitors(
  tx: Tenant,
  log: ChangeLog,
  row: ContactRow,
  visitorIds: readonly string[],
  now: Date,
): Promise<ContactRow> {
  return (await linkVisitors(tx, log, visitorIds, row, MANUAL.source, now)).row
}

/** Checks for a merge first, because the contact just inserted has the email too. */
async function emailTakenBy(tx: Tenant, email: string) {
  return emailTaken((await survivorOf(tx, { ...EMAIL, key: email })) ?? (await contactOfEmail(tx, email)) ?? '')
}
