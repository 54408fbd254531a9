import { changeContact, changedEvents, insertContact } from '../contacts/change.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from '../contacts/change-log.ts'
import { type ContactRow, changedKeys } from '../contacts/contact-row.ts'
import { removeEmail, removeExternalId, setExternalId } from '../contacts/keys.ts'
import { type KeyedContact, lockByKey } from '../contacts/lock-by-key.ts'
import type { PropertyChanges } from '../contacts/properties.ts'
import type { SourceWrite } from '../contacts/source-write.ts'
import { linkVisitorsOf, lockExternalId } from '../contacts/visitors/external-id.ts'
import { linkVisitors } from '../contacts/visitors/link.ts'
import { ServiceError } from '../platform/errors.ts'
import { Collision } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Known, type Resolution, resolveContact, type SentKeys, type Trust } from './resolve-contact.ts'

/** A request to identify visitors; at least one of userId and email is set. */
export interface Identification extends SentKeys {
  visitorIds: readonly string[]
  properties: PropertyChanges
  /** Whether the tenant requires signed identification: then an unverified one fails. */
  isProofRequired?: boolean
}

export interface Identified {
  contactId: string
  created: boolean
  /** The trust that applied: lower than what was sent if the hash does not cover the keys. */
  trust: Trust
  /** Ignored parts of the request that a page may not change: property keys, and `email`. */
  ignored: string[]
}

/**
 * Finds or creates the identified contact, links the visitors to it and writes the properties. Call registerVisitors
 * first.
 * @throws ServiceError 400 `identification_not_signed` if a signature is required and the hash does not cover the
 * keys.
 */
export async function identify(
  tenant: Tenant,
  dependencies: WriteDependencies,
  identification: Identification,
): Promise<Identified> {
  const { userId, visitorIds } = identification
  const now = dependencies.clock()
  return changeContacts(tenant, dependencies, async (tx, log) => {
    if (userId !== null) await lockExternalId(tx, userId)
    const resolution = await findResolution(tx, identification)
    const row = await writeResolution(tx, log, identification, resolution, now)
    const { source } = sourceOf(resolution.trust)
    await linkVisitors(tx, log, visitorIds, row, source, now)
    const ignored = [...(resolution.isEmailLeftOut ? ['email'] : []), ...log.ignored]
    return { contactId: row.contact_id, created: resolution.contact === null, trust: resolution.trust, ignored }
  })
}

/** The keys of a merged contact and of the survivor lead to the same contact, which then has both. */
function asOne({ byEmail, byUserId }: Known): Known {
  if (byEmail === byUserId || byEmail?.contact_id !== byUserId?.contact_id) return { byEmail, byUserId }
  const both = byEmail && byUserId && { ...byUserId, ...byEmail, ...keysOfUserId(byUserId) }
  return { byEmail: both, byUserId: both }
}

async function findResolution(tx: Tenant, identification: Identification): Promise<Resolution> {
  const { email, userId, isProofRequired } = identification
  const byUserId = userId === null ? undefined : await lockByKey(tx, 'external_id', userId)
  const isSame = byUserId !== undefined && byUserId.email === email
  const byEmail = isSame ? byUserId : email === null ? undefined : await lockByKey(tx, 'email', email)
  const resolution = resolveContact(identification, asOne({ byEmail, byUserId }))
  if (isProofRequired && resolution.trust === 'unverified') {
    const message =
      'user_hash covers external_user_id only, and traits.email belongs to another contact. Omit the email, or link the two with POST /v1/identify.'
    throw new ServiceError(400, 'identification_not_signed', message)
  }
  return resolution
}

async function writeResolution(
  tx: Tenant,
  log: ChangeLog,
  { userId, email: sentEmail, properties }: Identification,
  resolution: Resolution,
  now: Date,
): Promise<ContactRow> {
  const { contact, loser, emailLoser, isEmailUnproven } = resolution
  // A source that identifies a contact by its email becomes a source of that email.
  const isItsEmail = (contact?.stored ?? contact)?.email === sentEmail
  const email = resolution.email ?? (isItsEmail ? sentEmail : null)
  const getsUserId = userId !== null && resolution.userId !== 'unchanged'
  const isItsUserId = userId !== null && (contact?.external_id === userId ? !isAliasOf(contact, userId) : getsUserId)
  const write: SourceWrite = {
    ...sourceOf(resolution.trust),
    properties,
    ...(isItsUserId ? { externalId: userId } : {}),
    ...(resolution.trust === 'signed' ? { isFromPage: true } : {}),
    ...(email === null || isEmailUnproven ? {} : { email }),
  }
  if (loser !== null) await removeUserId(tx, loser)
  if (emailLoser !== null) await dropEmail(tx, log, emailLoser, write.source, now)
  let row: ContactRow
  if (contact) {
    const stored = contact.stored ?? contact
    const named = getsUserId ? await setUserId(tx, log, contact, userId, resolution, now) : stored
    row = await changeContact(tx, log, named, write, now)
  } else {
    const keys = { email: write.email ?? null, externalId: getsUserId ? userId : null }
    const inserted = await insertContact(
      tx,
      log,
      { ...keys, isProvisional: resolution.userId === 'provisional' },
      write,
      now,
    )
    if (!inserted) throw new Collision()
    row = inserted
    if (getsUserId) row = await linkVisitorsOf(tx, log, userId, { from: loser?.contact_id ?? null, to: row }, now)
  }
  if (email === null || !isEmailUnproven) return row
  return changeContact(tx, log, row, { ...sourceOf('unverified'), properties: {}, email }, now)
}

/**
 * Sets the contact's user id, which replaces one that only a page has sent. @returns the contact as stored
 * afterwards.
 */
async function setUserId(
  tx: Tenant,
  log: ChangeLog,
  contact: KeyedContact,
  userId: string,
  resolution: Resolution,
  now: Date,
): Promise<ContactRow> {
  const isProvisional = resolution.userId === 'provisional'
  if (contact.external_id === userId && contact.external_id_provisional === isProvisional) {
    return contact.stored ?? contact
  }
  if (contact.external_id !== null && contact.external_id !== userId) await removeUserId(tx, contact)
  const row = await setExternalId(tx, contact.contact_id, userId, isProvisional)
  if (contact.external_id === userId) return row
  return linkVisitorsOf(tx, log, userId, { from: resolution.loser?.contact_id ?? null, to: row }, now)
}

function removeUserId(tx: Tenant, contact: KeyedContact): Promise<void> {
  return removeExternalId(tx, contact, ['tracker', 'identify'])
}

/** Removes a contact's email, also from the records of pages. */
async function dropEmail(tx: Tenant, log: ChangeLog, before: KeyedContact, source: string, now: Date): Promise<void> {
  const row = await removeEmail(tx, before.contact_id, ['tracker', 'form'], now)
  log.noteChange(before.contact_id, changedKeys(before, row))
  log.events.push(...changedEvents(before, row, ['email'], source, now))
}

function sourceOf(trust: Trust) {
  return trust === 'unverified'
    ? ({ source: 'tracker', kind: 'tracker' } as const)
    : ({ source: 'identify', kind: 'identify' } as const)
}

function keysOfUserId({ external_id, external_id_provisional }: KeyedContact) {
  return { external_id, external_id_provisional }
}

function isAliasOf({ stored }: KeyedContact, userId: string): boolean {
  return stored !== undefined && stored.external_id !== userId
}
