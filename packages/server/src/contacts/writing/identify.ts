import { type Beginning, earlierOf } from '../../journal/beginnings.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { ContactRow } from '../contact-row.ts'
import type { PropertyChanges } from '../properties.ts'
import { changeContact, createContact } from './change.ts'
import type { ContactSet, ContactState } from './contact-set.ts'
import { changedEvents } from './events.ts'
import type { WriteKeys } from './keys.ts'
import { findKnown, type KeyedContact, type Resolution, resolveContact, type SentKeys, type Trust } from './resolve.ts'
import type { SourceRecord } from './source-records.ts'
import { isUnverified } from './source-trust.ts'
import type { SourceWrite } from './source-write.ts'
import { beginningOfEpisode, linkClaimingVisitors, linkVisitors } from './visitors.ts'
import type { Write } from './write.ts'

/** Who visitors are; at least one of userId and email is set. */
export interface Identification extends SentKeys {
  visitorIds: readonly string[]
  properties: PropertyChanges
  /** Whether the tenant requires signed identification: then an unverified one fails. */
  isProofRequired?: boolean
  /** When and where the person was first seen, if the contact is new. */
  beginning?: Beginning | null
}

/** An identified contact. */
export interface Identified {
  contactId: string
  created: boolean
  /** The trust that applied: lower than what was sent if the hash does not cover the keys. */
  trust: Trust
  /** Ignored parts of the request that a page may not change: property keys, and `email`. */
  ignored: string[]
}

/** The write of an identification. */
export function identificationOf(identification: Identification): Write<Identified> {
  return {
    keys: keysOfIdentification(identification),
    apply(set, { now }) {
      const { state, ...identified } = identify(set, identification, now)
      return { ...identified, contactId: state.row.contact_id }
    },
  }
}

export function keysOfIdentification({
  email,
  userId,
  visitorIds,
}: Pick<Identification, 'email' | 'userId' | 'visitorIds'>): WriteKeys {
  return { emails: email === null ? [] : [email], externalIds: userId === null ? [] : [userId], visitorIds }
}

/**
 * Finds or creates the identified contact, writes the properties, and links the visitors.
 * @throws ServiceError 400 `identification_not_signed` if a signature is required and the hash does not cover the
 * keys, 409 `too_many_visitors`, 413 `contact_too_large`.
 */
export function identify(
  set: ContactSet,
  identification: Identification,
  now: Date,
): Omit<Identified, 'contactId'> & { state: ContactState } {
  const resolution = resolveContact(identification, findKnown(set, identification))
  if (identification.isProofRequired && resolution.trust === 'unverified') {
    const message =
      'user_hash covers external_user_id only, and traits.email belongs to another contact. Omit the email, or link the two with POST /v1/identify.'
    throw new ServiceError(400, 'identification_not_signed', message)
  }
  const { state, ignored } = writeResolution(set, identification, resolution, now)
  linkVisitors(set, identification.visitorIds, state, sourceOf(resolution.trust).source, now)
  return {
    state,
    created: resolution.contact === null,
    trust: resolution.trust,
    ignored: [...(resolution.isEmailLeftOut ? ['email'] : []), ...ignored],
  }
}

function writeResolution(
  set: ContactSet,
  { userId, email: sentEmail, properties, visitorIds, beginning = null }: Identification,
  resolution: Resolution,
  now: Date,
): { state: ContactState; ignored: string[] } {
  const { contact, loser, emailLoser, isEmailUnproven } = resolution
  // A source that identifies a contact by its email becomes a source of that email.
  const isItsEmail = contact !== null && contact.state.row.email === sentEmail
  const email = resolution.email ?? (isItsEmail ? sentEmail : null)
  const getsUserId = userId !== null && resolution.userId !== 'unchanged'
  const isItsUserId =
    userId !== null && (contact?.external_id === userId ? contact.state.row.external_id === userId : getsUserId)
  const write: SourceWrite = {
    ...sourceOf(resolution.trust),
    properties,
    ...(isItsUserId ? { externalId: userId } : {}),
    ...(resolution.trust === 'signed' ? { isFromPage: true } : {}),
    ...(email === null || isEmailUnproven ? {} : { email }),
  }
  if (loser !== null) removeUserId(set, loser)
  if (emailLoser !== null) removeEmail(set, emailLoser.state, write.source, now)
  const isProvisional = resolution.userId === 'provisional'
  const ignored: string[] = []
  let state: ContactState
  if (contact) {
    state = contact.state
    if (getsUserId) setUserId(set, contact, userId, { isProvisional, from: loser?.state ?? null }, now)
    ignored.push(...changeContact(set, state, write, now).ignored)
  } else {
    const keys = { email: write.email ?? null, externalId: getsUserId ? userId : null, isProvisional }
    const earliest = beginning && earliestOf(set, visitorIds, beginning)
    const created = createContact(set, { ...keys, beginning: earliest }, write, now)
    state = created.state
    ignored.push(...created.ignored)
    if (getsUserId) linkClaimingVisitors(set, userId, { from: loser?.state ?? null, to: state }, now)
  }
  if (email === null || !isEmailUnproven) return { state, ignored }
  const unproven = { ...sourceOf('unverified'), properties: {}, email }
  return { state, ignored: [...ignored, ...changeContact(set, state, unproven, now).ignored] }
}

/** The beginning of an event, or that of its visitors' episodes, whichever is earlier: the contact is about to get both. */
function earliestOf(set: ContactSet, visitorIds: readonly string[], beginning: Beginning): Beginning | null {
  const anonymous = visitorIds.flatMap((id) => set.visitor(id) ?? []).filter(({ contact_id }) => contact_id === null)
  return anonymous.map(beginningOfEpisode).reduce(earlierOf, beginning)
}

/** Sets the contact's user id, which replaces one that only a page has sent. */
function setUserId(
  set: ContactSet,
  contact: KeyedContact,
  userId: string,
  { isProvisional, from }: { isProvisional: boolean; from: ContactState | null },
  now: Date,
): void {
  const { state, external_id: before } = contact
  if (before === userId && contact.external_id_provisional === isProvisional) return
  if (before !== null && before !== userId) removeUserId(set, contact)
  set.change(state, { ...state.row, external_id: userId, external_id_provisional: isProvisional }, null)
  if (before !== userId) linkClaimingVisitors(set, userId, { from, to: state }, now)
}

/** Removes a contact's user id, also from the records of identifications. */
function removeUserId(set: ContactSet, { state, external_id: userId }: KeyedContact): void {
  const isOfIt = ({ source, external_id }: SourceRecord) =>
    ['tracker', 'identify'].includes(source) && external_id === userId
  set.replace(state, {
    row: { ...state.row, external_id: null, external_id_provisional: false },
    records: state.records.map((record) => (isOfIt(record) ? { ...record, external_id: null } : record)),
  })
}

/** Removes a contact's email, also from the records of pages. */
function removeEmail(set: ContactSet, state: ContactState, source: string, now: Date): void {
  const { email: _, ...properties_provenance } = state.row.properties_provenance as Record<string, unknown>
  const before = state.row
  const row = { ...before, email: null, properties_provenance, updated_at: now } as ContactRow
  set.replace(state, { row, records: state.records.map(withoutEmail) })
  set.addEvents(...changedEvents(before, row, ['email'], source, now))
}

function withoutEmail(record: SourceRecord): SourceRecord {
  if (!isUnverified(record.kind) || !Object.hasOwn(record.fields, 'email')) return record
  const { email: _, ...fields } = record.fields
  return { ...record, fields }
}

function sourceOf(trust: Trust) {
  return trust === 'unverified'
    ? ({ source: 'tracker', kind: 'tracker' } as const)
    : ({ source: 'identify', kind: 'identify' } as const)
}
