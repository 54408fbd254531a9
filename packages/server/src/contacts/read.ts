import { compactEventsOfContact } from '../events/of-contact.ts'
import { recentNotes, toNotes } from '../notes/notes.ts'
import { notFound } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { segmentIds } from '../segments/member-ids.ts'
import { toContactObject } from './contact-object.ts'
import { CONTACT_COLUMNS, type ContactRow, propertiesOf } from './contact-row.ts'
import { summaryOf } from './summary.ts'
import { sourceRecords, unifiedProfileOf } from './unified-profile.ts'

const NOTES_IN_CONTACT = 100

interface ReadOptions {
  /** How many of the latest events come along; null for none. */
  eventsLimit: number | null
  withProvenance: boolean
  withRaw: boolean
}

/** A contact with its summary, profile and latest events. @throws ServiceError 404. */
export async function readContact(tenant: Tenant, contactId: string, options: ReadOptions) {
  const [row, events] = await Promise.all([
    tenant.db
      .selectFrom('contacts')
      .select(CONTACT_COLUMNS)
      .select(recentNotes(NOTES_IN_CONTACT))
      .select(segmentIds)
      .select(sourceRecords)
      .where('contact_id', '=', contactId)
      .executeTakeFirst(),
    options.eventsLimit === null ? {} : compactEventsOfContact(tenant, contactId, options.eventsLimit),
  ])
  if (!row) throw notFound('contact')
  const contact = {
    ...toContactObject(row, toNotes(row.notes), options.withProvenance),
    _summary: summaryOf(propertiesOf(row)),
  }
  return { contact, unified_profile: unifiedProfileOf(row, row.source_records, options.withRaw), ...events }
}

/** A contact as the writing endpoints answer it. */
export async function toWholeContact(tenant: Tenant, row: ContactRow) {
  const found = await tenant.db
    .selectFrom('contacts')
    .select(recentNotes(NOTES_IN_CONTACT))
    .select(segmentIds)
    .where('contact_id', '=', row.contact_id)
    .executeTakeFirst()
  return toContactObject({ ...row, segment_ids: found?.segment_ids ?? [] }, toNotes(found?.notes ?? []), false)
}
