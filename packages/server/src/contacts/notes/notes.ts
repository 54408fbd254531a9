import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { notFound } from '../../platform/errors.ts'
import { offsetOf, type Page } from '../../platform/http/pagination.ts'
import { newId } from '../../platform/ids.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { missingContact } from '../aliases.ts'
import { keepContacts } from '../locks.ts'
import type { NoteObject } from './schema.ts'
import {
  bytesSoFar,
  contentWithin,
  NEWEST_FIRST,
  NOTES_BYTES_MAX,
  notesThatFit,
  SIZED_COLUMNS,
  type SizedNote,
} from './size-limit.ts'

const COLUMNS = ['note_id', 'contact_id', 'content', 'created_at', 'updated_at'] as const

type NoteRow = Pick<Selectable<TenantTables['notes']>, (typeof COLUMNS)[number]>

interface NotesPage {
  /** The page's notes, or the first of them if the rest do not fit into the response. */
  notes: NoteObject[]
  /** The number of notes on the page. */
  onPage: number
  total: number
}

/** One page of a contact's notes, newest first. @throws ServiceError 404 for an unknown contact. */
export async function listNotes(tenant: Tenant, contactId: string, page: Page): Promise<NotesPage> {
  await requireContact(tenant, contactId)
  const ofPage = tenant.db
    .selectFrom('notes')
    .select(COLUMNS)
    .where('contact_id', '=', contactId)
    .orderBy(NEWEST_FIRST)
    .limit(page.limit)
    .offset(offsetOf(page))
    .as('newest')
  const sized = tenant.db.selectFrom(ofPage).selectAll().select(bytesSoFar(NEWEST_FIRST)).as('sized')
  const [rows, counted] = await Promise.all([
    tenant.db
      .selectFrom(sized)
      .select(SIZED_COLUMNS)
      .select(contentWithin(NOTES_BYTES_MAX))
      .orderBy(NEWEST_FIRST)
      .execute(),
    tenant.db
      .selectFrom('notes')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('contact_id', '=', contactId)
      .executeTakeFirst(),
  ])
  const [notes = []] = notesThatFit([rows], new Map())
  return { notes: notes.map(toNote), onPage: rows.length, total: Number(counted?.count ?? 0) }
}

/** Longer contents are read by a separate query: building JSON from them costs PostgreSQL more than a round trip. */
const INLINE_BYTES_MAX = 1024 * 1024

/**
 * A column `notes` for a query of contacts: the newest notes of each, at most `limit`. It reads one index range per
 * contact, because a contact may have any number of notes. A separate query would cost a round trip, which usually
 * takes longer than reading the notes.
 * @param contacts the maximum number of contacts that the query returns.
 */
export function recentNotes(limit: number, contacts: number) {
  return (from: ExpressionBuilder<TenantTables, 'contacts'>) => {
    const newest = from
      .selectFrom('notes')
      .select(COLUMNS)
      .whereRef('notes.contact_id', '=', 'contacts.contact_id')
      .orderBy(NEWEST_FIRST)
      .limit(limit)
      .as('newest')
    const sized = from.selectFrom(newest).selectAll().select(bytesSoFar(NEWEST_FIRST)).as('sized')
    return jsonArrayFrom(
      from
        .selectFrom(sized)
        .select(SIZED_COLUMNS)
        .select(contentWithin(INLINE_BYTES_MAX / contacts))
        .orderBy(NEWEST_FIRST),
    ).as('notes')
  }
}

/** A column `note_beginnings` for a query of contacts: the beginnings of the newest notes of each. */
export function noteBeginnings(limit: number, length: number) {
  return (from: ExpressionBuilder<TenantTables, 'contacts'>) =>
    jsonArrayFrom(
      from
        .selectFrom('notes')
        .select('notes.created_at')
        .select(sql<string>`left(notes.content, ${sql.lit(length)})`.as('content'))
        .whereRef('notes.contact_id', '=', 'contacts.contact_id')
        .orderBy(NEWEST_FIRST)
        .limit(limit),
    ).as('note_beginnings')
}

/** The newest notes of a contact. */
export interface RecentNotes {
  notes: NoteObject[]
  /** Whether some notes were omitted because they do not fit into the response. */
  isCut: boolean
}

export const NO_NOTES: RecentNotes = { notes: [], isCut: false }

/**
 * The notes in the `notes` columns of some contacts, as the API returns them. Reads the contents that were too long for
 * the column.
 */
export async function toNotes(tenant: Tenant, columns: readonly (readonly SizedNote[])[]): Promise<RecentNotes[]> {
  const unread = columns.flat().filter(({ content }) => content === null)
  const read = unread.length === 0 ? new Map<string, string>() : await readSome(tenant, unread)
  const fitting = notesThatFit(columns, read)
  return columns.map((column, index) => {
    const notes = fitting[index] ?? []
    return { notes: notes.map(toNote), isCut: notes.length < column.length }
  })
}

/** The contents of some notes, in their order, up to the size limit of a response. */
async function readSome(tenant: Tenant, notes: readonly SizedNote[]): Promise<Map<string, string>> {
  const ids = sql`${notes.map(({ note_id }) => note_id)}::uuid[]`
  const requested = tenant.db
    .selectFrom('notes')
    .select(['note_id', 'content'])
    .select(bytesSoFar(sql`array_position(${ids}, note_id)`))
    .where('note_id', '=', sql<string>`ANY(${ids})`)
    .as('requested')
  const rows = await tenant.db
    .selectFrom(requested)
    .select(['note_id', 'content'])
    .where('bytes_so_far', '<=', NOTES_BYTES_MAX)
    .execute()
  return new Map(rows.map(({ note_id, content }) => [note_id, content]))
}

/** @throws ServiceError 404 for an unknown contact. */
export async function createNote(tenant: Tenant, contactId: string, content: string, now: Date): Promise<NoteObject> {
  return tenant.transaction(async (tx) => {
    const [kept] = await keepContacts(tx, [contactId])
    if (kept === undefined) throw await missingContact(tx, contactId)
    const row = await tx.db
      .insertInto('notes')
      .values({ note_id: newId(), contact_id: contactId, content, created_at: now, updated_at: now })
      .returning(COLUMNS)
      .executeTakeFirstOrThrow()
    return toNote(row)
  })
}

/** @throws ServiceError 404 when the contact has no such note. */
export async function readNote(tenant: Tenant, contactId: string, noteId: string): Promise<NoteObject> {
  const row = await tenant.db
    .selectFrom('notes')
    .select(COLUMNS)
    .where('contact_id', '=', contactId)
    .where('note_id', '=', noteId)
    .executeTakeFirst()
  if (!row) throw notFound('note')
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
  if (!contact) throw await missingContact(tenant, contactId)
}

/** Accepts a row or its form in a JSON column, whose dates are texts. */
function toNote(row: Omit<NoteRow, 'created_at' | 'updated_at'> & Record<'created_at' | 'updated_at', string | Date>) {
  return {
    note_id: row.note_id,
    _id: row.note_id,
    contact_id: row.contact_id,
    content: row.content,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  } satisfies NoteObject
}
