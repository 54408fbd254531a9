import { setImmediate as endOfTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { compactEventsOfContact } from '../events/of-contact.ts'
import type { Tenant } from '../platform/tenant.ts'
import { missingContact } from './aliases.ts'
import { SEGMENT_IDS } from './columns.ts'
import { toContactObject } from './contact-object.ts'
import { CONTACT_COLUMNS, type ContactRow, propertiesOf } from './contact-row.ts'
import { NO_NOTES, noteBeginnings, recentNotes, toNotes } from './notes/notes.ts'
import type { Properties } from './properties.ts'
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
      .select(SEGMENT_IDS)
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

/** A contact as stored. */
export async function findContact(tenant: Tenant, contactId: string): Promise<ContactRow | undefined> {
  return tenant.db.selectFrom('contacts').select(CONTACT_COLUMNS).where('contact_id', '=', contactId).executeTakeFirst()
}

/** A contact as the write endpoints return it. */
export async function toWholeContact(tenant: Tenant, row: ContactRow) {
  const found = (await readAround(tenant, row.contact_id)).get(row.contact_id)
  const [notes = NO_NOTES] = await toNotes(tenant, [found?.notes ?? []])
  return toContactObject({ ...row, segment_ids: found?.segment_ids ?? [] }, notes, false)
}

/** Reads that start in this turn of the event loop, by tenant. */
const starting = new Map<string, { ids: Set<string>; read: ReturnType<typeof readAroundAll> }>()

/**
 * The notes and segments of a contact. Contacts that were written together are read together: one query for each would
 * take longer than their transaction.
 */
function readAround(tenant: Tenant, contactId: string): ReturnType<typeof readAroundAll> {
  if (tenant.isTransaction) return readAroundAll(tenant, [contactId])
  const known = starting.get(tenant.id)
  if (known) {
    known.ids.add(contactId)
    return known.read
  }
  const ids = new Set([contactId])
  const read = endOfTurn().then(() => {
    starting.delete(tenant.id)
    return readAroundAll(tenant, [...ids])
  })
  starting.set(tenant.id, { ids, read })
  return read
}

async function readAroundAll(tenant: Tenant, contactIds: readonly string[]) {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .select(recentNotes(NOTES_IN_CONTACT, contactIds.length))
    .select(SEGMENT_IDS)
    .where('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
    .execute()
  return new Map(rows.map((row) => [row.contact_id, row]))
}

/** Contacts by id, as in lists, in the order of the ids; unknown ids are omitted. */
export async function findContacts(tenant: Tenant, contactIds: readonly string[]) {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .select(recentNotes(NOTES_IN_BATCHES, contactIds.length || 1))
    .select(SEGMENT_IDS)
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

/**
 * Contacts by id, with the records of their sources and the beginnings of their newest notes; unknown ids are omitted.
 */
export function findProfiles(tenant: Tenant, contactIds: readonly string[], notes: { limit: number; length: number }) {
  return tenant.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .select(sourceRecords)
    .select(noteBeginnings(notes.limit, notes.length))
    .where('contact_id', '=', anyOf(contactIds))
    .execute()
}

/** The properties of contacts, by id; unknown ids are absent. */
export async function propertiesOfContacts(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, Properties>> {
  if (contactIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('contacts')
    .select(['contact_id', 'properties'])
    .where('contact_id', '=', anyOf(contactIds))
    .execute()
  return new Map(rows.map(({ contact_id, properties }) => [contact_id, properties as Properties]))
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

/** An array is one parameter; a list would be one per id. */
function anyOf(contactIds: readonly string[]) {
  return sql<string>`ANY(${contactIds}::uuid[])`
}
