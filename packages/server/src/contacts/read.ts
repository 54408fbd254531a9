import { sql } from 'kysely'
import { compactEventsOfContact } from '../events/of-contact.ts'
import { segmentIds } from '../memberships/memberships.ts'
import { namesIn } from '../operations/audit.ts'
import type { Tenant } from '../platform/tenant.ts'
import { missingContact } from './aliases.ts'
import { toContactObject } from './contact-object.ts'
import { CONTACT_COLUMNS, type ContactRow, propertiesOf } from './contact-row.ts'
import { NO_NOTES, recentNotes, toNotes } from './notes/notes.ts'
import { summaryOf } from './summary.ts'
import { sourceRecords, unifiedProfileOf } from './unified-profile.ts'

const NOTES_IN_CONTACT = 100
const NOTES_IN_BATCHES = 10

interface ReadOptions {
  /** How many of the latest events to include; null for none. */
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
      .select(recentNotes(NOTES_IN_CONTACT, 1))
      .select(segmentIds)
      .select(sourceRecords)
      .where('contact_id', '=', contactId)
      .executeTakeFirst(),
    options.eventsLimit === null ? {} : compactEventsOfContact(tenant, contactId, options.eventsLimit),
  ])
  if (!row) throw await missingContact(tenant, contactId)
  const [notes = NO_NOTES] = await toNotes(tenant, [row.notes])
  const contact = {
    ...toContactObject(row, notes, options.withProvenance),
    _summary: summaryOf(propertiesOf(row)),
  }
  return { contact, unified_profile: unifiedProfileOf(row, row.source_records, options.withRaw), ...events }
}

/** A contact as the write endpoints return it. */
export async function toWholeContact(tenant: Tenant, row: ContactRow) {
  const found = await tenant.db
    .selectFrom('contacts')
    .select(recentNotes(NOTES_IN_CONTACT, 1))
    .select(segmentIds)
    .where('contact_id', '=', row.contact_id)
    .executeTakeFirst()
  const [notes = NO_NOTES] = await toNotes(tenant, [found?.notes ?? []])
  return toContactObject({ ...row, segment_ids: found?.segment_ids ?? [] }, notes, false)
}

/** Contacts by id, as in lists, in the order of the ids; unknown ids are omitted. */
export async function findContacts(tenant: Tenant, contactIds: readonly string[]) {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .select(recentNotes(NOTES_IN_BATCHES, contactIds.length || 1))
    .select(segmentIds)
    .where('contact_id', '=', anyOf(contactIds))
    .execute()
  const notes = await toNotes(
    tenant,
    rows.map((row) => row.notes),
  )
  const contacts = rows.map((row, index) => toContactObject(row, notes[index] ?? NO_NOTES, false))
  const byId = new Map(contacts.map((contact) => [contact.contact_id, contact]))
  return contactIds.flatMap((id) => byId.get(id) ?? [])
}

/** The ids that belong to contacts. */
export async function knownContacts(tenant: Tenant, contactIds: readonly string[]): Promise<Set<string>> {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('contact_id', '=', anyOf(contactIds))
    .execute()
  return new Set(rows.map((row) => row.contact_id))
}

/** The company of each contact that has one. */
export async function companiesOfContacts(tenant: Tenant, contactIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select(['contact_id', 'company_id'])
    .where('contact_id', '=', anyOf(contactIds))
    .where('company_id', 'is not', null)
    .execute()
  return new Map(rows.map((row) => [row.contact_id, row.company_id ?? '']))
}

/** The full names of contacts, for the audit log; of a contact without a name, the email. */
export function fullNamesOfContacts({ db }: Tenant, contactIds: readonly string[]) {
  const fullName = sql`concat_ws(' ', nullif(properties ->> 'firstname', ''), nullif(properties ->> 'lastname', ''))`
  const name = sql<string | null>`coalesce(nullif(${fullName}, ''), email)`.as('name')
  return namesIn(
    db.selectFrom('contacts').select(['contact_id as id', name]).where('contact_id', '=', anyOf(contactIds)),
  )
}

/** An array is one parameter; a list would be one per id. */
function anyOf(contactIds: readonly string[]) {
  return sql<string>`ANY(${contactIds}::uuid[])`
}
