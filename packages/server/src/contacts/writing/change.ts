import type { Beginning } from '../../journal/beginnings.ts'
import { newId } from '../../platform/ids.ts'
import { emailTaken } from '../aliases.ts'
import { applyWrite, blankContact, wantsEmail } from './apply.ts'
import { type ContactSet, type ContactState, withRecord } from './contact-set.ts'
import { changedEvents, createdEvent } from './events.ts'
import { touched } from './first-touch.ts'
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
  const complete = email === null ? write : { ...write, email }
  const { row, record, ignored } = applyWrite(keyed, [], complete, email, now)
  const contents = { row, records: record === null ? [] : [record] }
  const touch = beginning ? touched(contents, beginning, now) : null
  const records = touch?.record ? withRecord(contents.records, touch.record) : contents.records
  const state = set.create(touch?.row ?? row, records)
  set.addEvents(createdEvent(state.row, write.source, now))
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
