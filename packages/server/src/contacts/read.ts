import { compactEventsOfContact } from '../events/of-contact.ts'
import { recentNotes } from '../notes/notes.ts'
import { notFound } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { toContactObject } from './contact-object.ts'
import { CONTACT_COLUMNS, type ContactRow, propertiesOf } from './contact-row.ts'
import { summaryOf } from './summary.ts'
import { readUnifiedProfile } from './unified-profile.ts'

const NOTES_IN_CONTACT = 100

interface ReadOptions {
  /** How many of the latest events come along; null for none. */
  eventsLimit: number | null
  withProvenance: boolean
  withRaw: boolean
}

/** A contact with its summary, profile and latest events. @throws ServiceError 404. */
export async function readContact(tenant: Tenant, contactId: string, options: ReadOptions) {
  const row = await findContact(tenant, contactId)
  const [notes, unified_profile, events] = await Promise.all([
    recentNotes(tenant, [contactId], NOTES_IN_CONTACT),
    readUnifiedProfile(tenant, row, options.withRaw),
    options.eventsLimit === null ? {} : compactEventsOfContact(tenant, contactId, options.eventsLimit),
  ])
  const contact = {
    ...toContactObject(row, notes.get(contactId) ?? [], options.withProvenance),
    _summary: summaryOf(propertiesOf(row)),
  }
  return { contact, unified_profile, ...events }
}

/** A contact as the writing endpoints answer it. */
export async function toWholeContact(tenant: Tenant, row: ContactRow) {
  const notes = await recentNotes(tenant, [row.contact_id], NOTES_IN_CONTACT)
  return toContactObject(row, notes.get(row.contact_id) ?? [], false)
}

async function findContact(tenant: Tenant, contactId: string): Promise<ContactRow> {
  const row = await tenant.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .where('contact_id', '=', contactId)
    .executeTakeFirst()
  if (!row) throw notFound('contact')
  return row
}
