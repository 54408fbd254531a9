import type { ExpressionBuilder, Selectable } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { newId } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { NoteObject } from './schema.ts'

const COLUMNS = ['note_id', 'contact_id', 'content', 'created_at', 'updated_at'] as const

type NoteRow = Pick<Selectable<TenantTables['notes']>, (typeof COLUMNS)[number]>

/** All notes of a contact, newest first. @throws ServiceError 404 for an unknown contact. */
export async function listNotes(tenant: Tenant, contactId: string): Promise<NoteObject[]> {
  await requireContact(tenant, contactId)
  const rows = await selectNotes(tenant, contactId).execute()
  return rows.map(toNote)
}

/** One page of them, and how many there are. @throws ServiceError 404 for an unknown contact. */
export async function listNotesPage(
  tenant: Tenant,
  contactId: string,
  page: Page,
): Promise<{ notes: NoteObject[]; total: number }> {
  await requireContact(tenant, contactId)
  const [rows, counted] = await Promise.all([
    selectNotes(tenant, contactId).limit(page.limit).offset(offsetOf(page)).execute(),
    tenant.db
      .selectFrom('notes')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('contact_id', '=', contactId)
      .executeTakeFirst(),
  ])
  return { notes: rows.map(toNote), total: Number(counted?.count ?? 0) }
}

function selectNotes(tenant: Tenant, contactId: string) {
  return tenant.db
    .selectFrom('notes')
    .select(COLUMNS)
    .where('contact_id', '=', contactId)
    .orderBy('created_at', 'desc')
    .orderBy('note_id', 'desc')
}

/**
 * A column `notes` for a query over contacts: the newest notes of each, at most `limit`. One index range a contact,
 * because a contact may have any number of notes; one query, because a round trip costs more than the notes.
 */
export function recentNotes(limit: number) {
  return (from: ExpressionBuilder<TenantTables, 'contacts'>) =>
    jsonArrayFrom(
      from
        .selectFrom('notes')
        .select(COLUMNS)
        .whereRef('notes.contact_id', '=', 'contacts.contact_id')
        .orderBy('notes.created_at', 'desc')
        .orderBy('notes.note_id', 'desc')
        .limit(limit),
    ).as('notes')
}

/** The notes of such a column as the API answers them. JSON has no dates, so they arrive as texts. */
export function toNotes(column: readonly JsonNote[]): NoteObject[] {
  return column.map((row) =>
    toNote({ ...row, created_at: new Date(row.created_at), updated_at: new Date(row.updated_at) }),
  )
}

type JsonNote = Omit<NoteRow, 'created_at' | 'updated_at'> & { created_at: string | Date; updated_at: string | Date }

/** @throws ServiceError 404 for an unknown contact. */
export async function createNote(tenant: Tenant, contactId: string, content: string, now: Date): Promise<NoteObject> {
  return tenant.transaction((tx) => insertNote(tx, contactId, content, now))
}

/** The same in the caller's transaction. */
export async function insertNote(tx: Tenant, contactId: string, content: string, now: Date): Promise<NoteObject> {
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
