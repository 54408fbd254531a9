import type { SystemEvent } from '../../journal/append.ts'
import { newId } from '../../platform/ids.ts'
import { emailTaken } from '../aliases.ts'
import { type ContactRow, propertiesOf } from '../contact-row.ts'
import type { Properties } from '../properties.ts'
import { fitInEvent } from '../size.ts'
import { applyWrite, blankContact, wantsEmail } from './apply.ts'
import type { ContactSet, ContactState } from './contact-set.ts'
import type { SourceWrite } from './source-write.ts'

/** The keys of a new contact: an email address, the id of the customer's own system, both, or neither. */
export interface NewKeys {
  email: string | null
  externalId: string | null
  /** Only a page has sent the external id. */
  isProvisional?: boolean
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
export function createContact(set: ContactSet, keys: NewKeys, write: SourceWrite, now: Date): Changed {
  const { email, externalId, isProvisional = false } = keys
  const blank = blankContact(newId(), write.source, now)
  const keyed = { ...blank, external_id: externalId, external_id_provisional: isProvisional }
  const complete = email === null ? write : { ...write, email }
  const { row, record, ignored } = applyWrite(keyed, [], complete, email, now)
  const state = set.create(row, record === null ? [] : [record])
  set.addEvents(createdEvent(row, write.source, now))
  return { state, ignored }
}

/**
 * Writes a source's values to a contact. `applyWrite` decides which values win.
 * @throws ServiceError 409 `contact_email_taken`, 400 too many properties, 413 `contact_too_large`.
 */
export function changeContact(set: ContactSet, state: ContactState, write: SourceWrite, now: Date): Changed {
  const before = state.row
  const email = wantsEmail(before, write) ? emailAfter(set, state, write) : before.email
  const applied = applyWrite(before, state.records, write, email, now)
  const { changed, isNews, isRowDirty, ignored } = applied
  set.change(state, isRowDirty ? applied.row : before, hasContent(write) ? applied.record : null)
  if (isNews) set.addEvents(...changedEvents(before, applied.row, changed, write.source, now))
  return { state, ignored }
}

/** The event of a new contact. */
export function createdEvent(row: ContactRow, source: string, at: Date): SystemEvent {
  const data = { ...propertiesInEvent(row), source }
  return { event: 'contact_created', at, contactId: row.contact_id, data }
}

/** The events of a change of a contact. */
export function changedEvents(
  before: ContactRow,
  after: ContactRow,
  changed: readonly string[],
  source: string,
  at: Date,
): SystemEvent[] {
  const contactId = after.contact_id
  const updated: SystemEvent = {
    event: 'contact_updated',
    at,
    contactId,
    data: { changed, ...propertiesInEvent(after), source },
  }
  const [from, to] = [before, after].map((row) => (row.properties as Properties).lifecyclestage ?? null)
  if (from === to) return [updated]
  return [updated, { event: 'lifecycle_stage_changed', at, contactId, data: { from, to, source } }]
}

/** The most properties in an event; readers that need more can read the contact. */
function propertiesInEvent(row: ContactRow): { properties: Properties } | { properties_omitted: true } {
  const properties = propertiesOf(row)
  return fitInEvent(properties) ? { properties } : { properties_omitted: true }
}

function hasContent({ properties, email, externalId, raw }: SourceWrite): boolean {
  return Object.keys(properties).length > 0 || email !== undefined || externalId !== undefined || raw !== undefined
}

/** The email of a write, or the current one if another contact has it. By hand, that is an error. */
function emailAfter(set: ContactSet, { row }: ContactState, { kind, email }: SourceWrite & { email: string }): string | null {
  const other = set.find('email', email)?.row.contact_id ?? row.contact_id
  if (other === row.contact_id) return email
  if (kind === 'manual') throw emailTaken(other)
  return row.email
}
