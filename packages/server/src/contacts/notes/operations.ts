import Type from 'typebox'
import { idInPath, operation } from '../../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { Id } from '../../platform/http/responses.ts'
import { createNote, deleteNote, listNotes, readNote, updateNote } from './notes.ts'
import { Note, NoteContent } from './schema.ts'

const tag = 'Notes'
const ContactPath = { contact_id: idInPath('contact') }
const NotePath = { ...ContactPath, note_id: idInPath('note') }
/** The number of notes of maximum size that fit into a response: 100,000 characters of six bytes each. */
const ALWAYS_FIT = 13

export const NOTE_OPERATIONS = [
  operation({
    name: 'listNotes',
    tag,
    http: 'GET /v1/contacts/:contact_id/notes',
    command: 'note list',
    scope: 'contacts:read',
    summary: 'List the notes of a contact, newest first',
    description:
      'A response contains at most 8 MiB of notes. If a page has more, `truncated` is true and its last notes are omitted: use a smaller limit. Pages of 13 notes or fewer always fit.',
    input: { ...ContactPath, ...pageParameters(100, 100) },
    output: {
      notes: Type.Array(Note),
      returned: Type.Integer({ description: 'The number of notes in this response.' }),
      truncated: Type.Optional(Type.Literal(true, { description: 'true if some notes of the page did not fit.' })),
      total_items: Type.Integer({ description: 'The number of notes of the contact.' }),
      pagination: Pagination,
    },
    errors: ['404 contact_merged'],
    async run({ tenant, warn }, { contact_id, page, limit }) {
      const { notes, onPage, total } = await listNotes(tenant, contact_id, { page, limit })
      const truncated = notes.length < onPage
      if (truncated) {
        warn(
          `Only the first ${notes.length} of this page's ${onPage} notes fit into 8 MiB. Use limit=${ALWAYS_FIT} to get all of them.`,
        )
      }
      return {
        notes,
        returned: notes.length,
        ...(truncated ? { truncated: true as const } : {}),
        total_items: total,
        pagination: paginationOf({ page, limit }, total),
      }
    },
  }),
  operation({
    name: 'getNote',
    tag,
    http: 'GET /v1/contacts/:contact_id/notes/:note_id',
    command: 'note get',
    scope: 'contacts:read',
    summary: 'Get a note of a contact',
    input: NotePath,
    output: { note: Note },
    run: async ({ tenant }, { contact_id, note_id }) => ({ note: await readNote(tenant, contact_id, note_id) }),
  }),
  operation({
    name: 'createNote',
    tag,
    http: 'POST /v1/contacts/:contact_id/notes',
    command: 'note create',
    scope: 'contacts:write',
    summary: 'Add a note to a contact',
    input: { ...ContactPath, content: NoteContent },
    output: { note: Note },
    status: 201,
    example: { content: 'Asked for **pricing**.' },
    errors: ['404 contact_merged'],
    unaudited: 'data of a contact, not a setting of the tenant',
    isAtomic: true,
    run: async ({ tenant, now }, { contact_id, content }) => ({
      note: await createNote(tenant, contact_id, content, now),
    }),
  }),
  operation({
    name: 'updateNote',
    tag,
    http: 'PATCH /v1/contacts/:contact_id/notes/:note_id',
    command: 'note update',
    scope: 'contacts:write',
    summary: 'Replace the content of a note',
    input: { ...NotePath, content: NoteContent },
    output: { note: Note },
    example: { content: 'Asked for **pricing** and a demo.' },
    unaudited: 'data of a contact, not a setting of the tenant',
    run: async ({ tenant, now }, { contact_id, note_id, content }) => ({
      note: await updateNote(tenant, contact_id, note_id, content, now),
    }),
  }),
  operation({
    name: 'deleteNote',
    tag,
    http: 'DELETE /v1/contacts/:contact_id/notes/:note_id',
    command: 'note delete',
    scope: 'contacts:write',
    summary: 'Delete a note',
    input: NotePath,
    output: { deleted: Type.Literal(true), note_id: Id },
    unaudited: 'data of a contact, not a setting of the tenant',
    async run({ tenant }, { contact_id, note_id }) {
      await deleteNote(tenant, contact_id, note_id)
      return { deleted: true as const, note_id }
    },
  }),
]
