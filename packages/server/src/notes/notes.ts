import type { Selectable } from 'kysely'
import { notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { NoteObject } from './schema.ts'

const COLUMNS = ['note_id', 'contact_id', 'content', 'created_at', 'updated_at'] as const

type NoteRow = Pick<Selectable<TenantTables['notes']>, (typeof COLUMNS)[number]>

/** All notes of a contact, newest first. @throws ServiceError 404 for an unknown contact. */
export async function listNotes(tenant: Tenant, contactId: string): Promise<NoteObject[]> {
  await requireContact(tenant, contactId)
  const rows = await tenant.db
    .selectFrom('notes')
    .select(COLUMNS)
    .where('contact_id', '=', contactId)
    .orderBy('created_at', 'desc')
    .orderBy('note_id', 'desc')
    .execute()
  return rows.map(toNote)
}

/** The newest notes of several contacts at once, at most `limit` each. */
export async function recentNotes(
  tenant: Tenant,
  contactIds: readonly string[],
  limit: number,
): Promise<Map<string, NoteObject[]>> {
  const byContact = new Map<string, NoteObject[]>()
  if (contactIds.length === 0) return byContact
  // One index range a contact: a contact may have any number of notes, and only the newest are read.
  const rows = await tenant.db
    .selectFrom('contacts')
    .innerJoinLateral(
      (from) =>
        from
          .selectFrom('notes')
          .select(COLUMNS)
          .whereRef('notes.contact_id', '=', 'contacts.contact_id')
          .orderBy('notes.created_at', 'desc')
          .orderBy('notes.note_id', 'desc')
          .limit(limit)
          .as('recent'),
      (join) => join.onTrue(),
    )
    .select(['recent.note_id', 'recent.contact_id', 'recent.content', 'recent.created_at', 'recent.updated_at'])
    .where('contacts.contact_id', 'in', contactIds)
    .orderBy('recent.created_at', 'desc')
    .orderBy('recent.note_id', 'desc')
    .execute()
  for (const row of rows) {
    const notes = byContact.get(row.contact_id)
    if (notes) notes.push(toNote(row))
    else byContact.set(row.contact_id, [toNote(row)])
  }
  return byContact
}

/** @throws ServiceError 404 for an unknown contact. */
export async function createNote(tenant: Tenant, contactId: string, content: string, now: Date): Promise<NoteObject> {
  return tenant.transaction(async (tx) => {
    // Locked, so that the contact cannot be deleted between the look and the insertion.
    const contact = await tx.db
      .selectFrom('contacts')
      .select('contact_id')
      .where('contact_id', '=', contactId)
      .forKeyShare()
      .executeTakeFirst()
    if (!contact) throw notFound('contact')
    const row = await tx.db
      .insertInto('notes')
      .values({ note_id: newId(), contact_id: contactId, content, created_at: now, updated_at: now })
      .returning(COLUMNS)
      .executeTakeFirstOrThrow()
    return toNote(row)
  })
}

/** @throws ServiceError 404 when the contact has no such note. */
export async function updateNote(
  tenant: Tenant,
  contactId: string,
  noteId: string,
  content: string,
  now: Date,
): Promise<NoteObject> {
  const row = await tenant.db
    .updateTable('notes')
    .set({ content, updated_at: now })
    .where('contact_id', '=', contactId)
    .where('note_id', '=', noteId)
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!row) throw notFound('note')
  return toNote(row)
}

/** @throws ServiceError 404 when the contact has no such note. */
export async function deleteNote(tenant: Tenant, contactId: string, noteId: string): Promise<void> {
  const { numDeletedRows } = await tenant.db
    .deleteFrom('notes')
    .where('contact_id', '=', contactId)
    .where('note_id', '=', noteId)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('note')
}

async function requireContact(tenant: Tenant, contactId: string): Promise<void> {
  const contact = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('contact_id', '=', contactId)
    .executeTakeFirst()
  if (!contact) throw notFound('contact')
}

function toNote(row: NoteRow): NoteObject {
  return {
    note_id: row.note_id,
    _id: row.note_id,
    contact_id: row.contact_id,
    content: row.content,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
