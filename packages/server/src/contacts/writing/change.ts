import type { Beginning } from '../../journal/beginnings.ts'
import { newId } from '../../platform/ids.ts'
import { emailTaken } from '../aliases.ts'
import { COMPUTED, computedAmong, requireNotComputed } from '../computed-names.ts'
import { mergeProperties, type Properties, type PropertyValue } from '../properties.ts'
import { requireContactFits } from '../size.ts'
import { applyWrite, blankContact, wantsEmail } from './apply.ts'
import { type ContactSet, type ContactState, withRecord } from './contact-set.ts'
import { changedEvents, createdEvent } from './events.ts'
import { touched } from './first-touch.ts'
import { isUnverified } from './source-trust.ts'
import type { SourceWrite } from './source-write.ts'

/** The keys of a new contact: an email address, the id of the customer's own system, both, or neither. */
interface NewKeys {
  email: string | null
  externalId: string | null
  /** Only a page has sent the external id. */
  isProvisional?: boolean
}

/** A contact that does not exist yet. */
interface NewContact extends NewKeys {
  /** When and where it was first seen. */
  beginning?: Beginning | null
}

/** A contact that was written, and the keys that the source may not change: property keys, and `company_id`. */
export interface Changed {
  state: ContactState
  ignored: string[]
}

/**
 * Creates a contact with its source's record.
 * @throws ServiceError 400 too many properties, 413 `contact_too_large`.
 */
export function createContact(set: ContactSet, contact: NewContact, write: SourceWrite, now: Date): Changed {
  const { email, externalId, isProvisional = false, beginning = null } = contact
  const blank = blankContact(newId(), write.source, now)
  const keyed = { ...blank, external_id: externalId, external_id_provisional: isProvisional }
  const [allowed, barred] = withoutComputed(set, write)
  const complete = email === null ? allowed : { ...allowed, email }
  const { row, record, ignored } = applyWrite(keyed, [], complete, email, now)
  const contents = { row, records: record === null ? [] : [record] }
  const touch = beginning ? touched(contents, beginning, now) : null
  const records = touch?.record ? withRecord(contents.records, touch.record) : contents.records
  const state = set.create(touch?.row ?? row, records)
  set.addEvents(createdEvent(state.row, write.source, now))
  return { state, ignored: [...barred, ...ignored] }
}

/**
 * Writes a source's values to a contact. `applyWrite` decides which values win.
 * @throws ServiceError 409 `contact_email_taken`, 400 too many properties, 413 `contact_too_large`.
 */
export function changeContact(set: ContactSet, state: ContactState, sent: SourceWrite, now: Date): Changed {
  const [write, barred] = withoutComputed(set, sent)
  const before = state.row
  const email = wantsEmail(before, write) ? emailAfter(set, state, write) : before.email
  const applied = applyWrite(before, state.records, write, email, now)
  const { changed, isNews, isRowDirty, ignored } = applied
  set.change(state, isRowDirty ? applied.row : before, hasContent(write) ? applied.record : null)
  if (isNews) set.addEvents(...changedEvents(before, applied.row, changed, write.source, now))
  return { state, ignored: [...barred, ...ignored] }
}

/**
 * Writes the properties that the service computes of a contact; null for one that it must not have. Whatever else was computed
 * before is removed, such as what an unmerge has restored. Nothing happens if the values are the same.
 * @param isTold whether a property is a score whose event says from what to what it changed
 * @throws ServiceError 400 too many properties, 413 `contact_too_large`.
 */
export function computeContact(
  set: ContactSet,
  state: ContactState,
  values: Readonly<Record<string, PropertyValue | null>>,
  now: Date,
  isTold: (name: string) => boolean = () => false,
): void {
  const before = state.row
  const provenance = { ...(before.properties_provenance as Record<string, { source: string; updated_at: string }>) }
  const stale = Object.keys(provenance).filter((key) => provenance[key]?.source === COMPUTED && !(key in values))
  const changes = { ...values, ...Object.fromEntries(stale.map((key) => [key, null])) }
  const { properties, changed } = mergeProperties(before.properties as Properties, changes)
  if (changed.length === 0) return
  for (const key of changed) {
    if (Object.hasOwn(properties, key)) provenance[key] = { source: COMPUTED, updated_at: now.toISOString() }
    else delete provenance[key]
  }
  const row = { ...before, properties, properties_provenance: provenance, updated_at: now }
  const stored = { email: before.email, properties: before.properties as Properties, records: state.records }
  requireContactFits(stored, { ...stored, properties }, 'manual')
  set.change(state, row, null)
  const told = changed.filter(isTold).flatMap((name) => {
    const [from = 0, to] = [before.properties, properties].map((each) => (each as Properties)[name])
    return typeof from === 'number' && typeof to === 'number' ? [[name, { from, to }] as const] : []
  })
  set.addEvents(...changedEvents(before, row, changed, COMPUTED, now, Object.fromEntries(told)))
}

/**
 * A write without the properties that the service computes, if it is from a page: it learns that they were ignored. For anybody
 * else, they are an error. @throws ServiceError 409 `computed_property`.
 */
function withoutComputed(set: ContactSet, write: SourceWrite): [SourceWrite, ignored: string[]] {
  const computed = computedAmong(write.properties, set.computed)
  if (computed.length === 0) return [write, []]
  if (!write.isFromPage && !isUnverified(write.kind)) requireNotComputed(write.properties, set.computed)
  const properties = Object.fromEntries(Object.entries(write.properties).filter(([key]) => !set.computed.has(key)))
  return [{ ...write, properties }, computed]
}

function hasContent({ properties, email, externalId, raw }: SourceWrite): boolean {
  return Object.keys(properties).length > 0 || email !== undefined || externalId !== undefined || raw !== undefined
}

/** The email of a write, or the current one if another contact has it. By hand, that is an error. */
function emailAfter(
  set: ContactSet,
  { row }: ContactState,
  { kind, email }: SourceWrite & { email: string },
): string | null {
  const other = set.find('email', email)?.row.contact_id ?? row.contact_id
  if (other === row.contact_id) return email
  if (kind === 'manual') throw emailTaken(other)
  return row.email
}
