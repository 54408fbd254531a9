import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { newId } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { NoteObject } from './schema.ts'

const COLUMNS = ['note_id', 'contact_id', 'content', 'created_at', 'updated_at'] as const

type NoteRow = Pick<Selectable<TenantTables['notes']>, (typeof COLUMNS)[number]>

/** What the notes of one answer may take, as JSON: a control character takes six bytes of it. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const jsonBytes = sql<number>`octet_length(to_json(content)::text)`
const newestFirst = sql`created_at DESC, note_id DESC`
/** The note's bytes and those of the newer ones. */
const bytesSoFar = sql<number>`sum(bytes) OVER (ORDER BY ${newestFirst})::bigint`

interface NotesPage {
  /** Fewer than the page has when they would exceed what an answer may take. */
  notes: NoteObject[]
  /** How many notes the page has. */
  onPage: number
  total: number
}

/** One page of a contact's notes, newest first. @throws ServiceError 404 for an unknown contact. */
export async function listNotes(tenant: Tenant, contactId: string, page: Page): Promise<NotesPage> {
  await requireContact(tenant, contactId)
  // The sizes are known before a content is read: those that do not fit never leave the database.
  const ofPage = tenant.db
    .selectFrom('notes')
    .select(COLUMNS)
    .select(jsonBytes.as('bytes'))
    .where('contact_id', '=', contactId)
    .orderBy(newestFirst)
    .limit(page.limit)
    .offset(offsetOf(page))
    .as('of_page')
  const sized = tenant.db.selectFrom(ofPage).selectAll().select(bytesSoFar.as('bytes_so_far')).as('sized')
  const [rows, counted] = await Promise.all([
    tenant.db
      .selectFrom(sized)
      .select(['note_id', 'contact_id', 'created_at', 'updated_at'])
      .select(sql<string | null>`CASE WHEN bytes_so_far <= ${ANSWER_BYTES_MAX} THEN content END`.as('content'))
      .orderBy(newestFirst)
      .execute(),
    tenant.db
      .selectFrom('notes')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('contact_id', '=', contactId)
      .executeTakeFirst(),
  ])
  return { notes: rows.flatMap(toWholeNote), onPage: rows.length, total: Number(counted?.count ?? 0) }
}

/** A note of a page; none when its content did not fit. */
function toWholeNote({ content, ...row }: Omit<NoteRow, 'content'> & { content: string | null }): NoteObject[] {
  return content === null ? [] : [toNote({ ...row, content })]
}

/**
 * A column `notes` for a query over contacts: the newest notes of each, at most `limit`. One index range a contact,
 * because a contact may have any number of notes; one query, because a round trip costs more than the notes.
 * @param contacts how many the query answers: they share what the notes of an answer may take.
 */
export function recentNotes(limit: number, contacts: number) {
  const bytesMax = Math.trunc(ANSWER_BYTES_MAX / contacts)
  return (from: ExpressionBuilder<TenantTables, 'contacts'>) => {
    const newest = from
      .selectFrom('notes')
      .select(COLUMNS)
      .select(jsonBytes.as('bytes'))
      .whereRef('notes.contact_id', '=', 'contacts.contact_id')
      .orderBy(newestFirst)
      .limit(limit)
      .as('newest')
    const sized = from.selectFrom(newest).selectAll().select(bytesSoFar.as('bytes_so_far')).as('sized')
    return jsonArrayFrom(
      from
        .selectFrom(sized)
        .select(['note_id', 'contact_id', 'created_at', 'updated_at'])
        .select(sql<string | null>`CASE WHEN bytes_so_far <= ${bytesMax} THEN content END`.as('content'))
        .orderBy(newestFirst),
    ).as('notes')
  }
}

/** The newest notes of a contact. */
export interface RecentNotes {
  notes: NoteObject[]
  /** Whether some were left out, because the answer has no room for them. */
  isCut: boolean
}

export const NO_NOTES: RecentNotes = { notes: [], isCut: false }

type JsonNote = Omit<NoteRow, 'content' | 'created_at' | 'updated_at'> & {
  content: string | null
  created_at: string | Date
  updated_at: string | Date
}

/**
 * The notes of such columns as the API answers them, a list for each contact. Notes that did not fit into the contact's
 * share are read as long as the answer has room; what is still missing is said with `isCut`.
 */
export async function toNotes(tenant: Tenant, columns: readonly (readonly JsonNote[])[]): Promise<RecentNotes[]> {
  const all = columns.flat()
  const missing = all.filter(({ content }) => content === null).map(({ note_id }) => note_id)
  const held = all.reduce((sum, { content }) => sum + (content === null ? 0 : jsonBytesOf(content)), 0)
  const read =
    missing.length === 0 ? new Map<string, string>() : await readThatFit(tenant, missing, ANSWER_BYTES_MAX - held)
  return columns.map((column) => {
    // JSON has no dates, so they arrive as texts.
    const whole = column.flatMap(({ created_at, updated_at, ...row }) =>
      toWholeNote({
        ...row,
        content: row.content ?? read.get(row.note_id) ?? null,
        created_at: new Date(created_at),
        updated_at: new Date(updated_at),
      }),
    )
    return { notes: whole, isCut: whole.length < column.length }
  })
}

function jsonBytesOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text))
}

/** The contents of the first notes in the order given, as many as fit. */
async function readThatFit(tenant: Tenant, noteIds: readonly string[], bytesMax: number): Promise<Map<string, string>> {
  const asked = tenant.db
    .selectFrom('notes')
    .select(['note_id', 'content'])
    .select(
      sql<number>`sum(${jsonBytes}) OVER (ORDER BY array_position(${noteIds}::uuid[], note_id))::bigint`.as(
        'bytes_so_far',
      ),
    )
    .where('note_id', '=', sql<string>`ANY(${noteIds}::uuid[])`)
    .as('asked')
  const rows = await tenant.db
    .selectFrom(asked)
    .select(['note_id', 'content'])
    .where('bytes_so_far', '<=', bytesMax)
    .execute()
  return new Map(rows.map(({ note_id, content }) => [note_id, content]))
}

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
