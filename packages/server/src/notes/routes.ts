import Type from 'typebox'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { pathId, success } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { createNote, deleteNote, listNotes, updateNote } from './notes.ts'
import { Note, NoteContent } from './schema.ts'

const ContactPath = Type.Object({ contact_id: Type.String() })
const NotePath = Type.Object({ contact_id: Type.String(), note_id: Type.String() })
/** So many of the longest notes fit into an answer: 100,000 characters of six bytes each. */
const ALWAYS_FIT = 13
const OneNote = success({ note: Note })

/** Notes: free-form text on a contact. */
export function noteRoutes(app: App, { clock }: { clock: Clock }): void {
  app.get(
    '/v1/contacts/:contact_id/notes',
    {
      config: { access: 'contacts:read' },
      schema: {
        operationId: 'listNotes',
        summary: 'List the notes of a contact, newest first',
        description:
          'An answer carries at most 8 MiB of notes. If a page has more, `truncated` is true and its last notes are left out: ask with a smaller limit. Pages of 13 notes or fewer always fit.',
        tags: ['Notes'],
        params: ContactPath,
        querystring: Type.Object(pageParameters(100, 100)),
        response: {
          200: success({
            notes: Type.Array(Note),
            returned: Type.Integer({ description: 'The notes in this answer.' }),
            truncated: Type.Optional(Type.Literal(true, { description: 'The page has more notes than fit.' })),
            total_items: Type.Integer({ description: 'All notes of the contact.' }),
            pagination: Pagination,
          }),
        },
      },
    },
    async ({ tenant, params, query: { page = 1, limit = 100 }, warnings }) => {
      const { notes, onPage, total } = await listNotes(tenant, pathId(params.contact_id, 'contact'), { page, limit })
      const truncated = notes.length < onPage
      if (truncated) {
        warnings.push(
          `Only the first ${notes.length} of this page's ${onPage} notes fit into 8 MiB. Ask with limit=${ALWAYS_FIT} to get all.`,
        )
      }
      return {
        status: 'success' as const,
        notes,
        returned: notes.length,
        ...(truncated ? { truncated: true as const } : {}),
        total_items: total,
        pagination: paginationOf({ page, limit }, total),
      }
    },
  )

  app.post(
    '/v1/contacts/:contact_id/notes',
    {
      config: { access: 'contacts:write' },
      schema: {
        operationId: 'createNote',
        summary: 'Add a note to a contact',
        tags: ['Notes'],
        params: ContactPath,
        body: NoteContent,
        response: { 201: OneNote },
      },
    },
    async ({ tenant, params, body }, reply) => {
      const note = await createNote(tenant, pathId(params.contact_id, 'contact'), body.content, clock())
      return reply.code(201).send({ status: 'success', note })
    },
  )

  app.patch(
    '/v1/contacts/:contact_id/notes/:note_id',
    {
      config: { access: 'contacts:write' },
      schema: {
        operationId: 'updateNote',
        summary: 'Replace the content of a note',
        tags: ['Notes'],
        params: NotePath,
        body: NoteContent,
        response: { 200: OneNote },
      },
    },
    async ({ tenant, params, body }) => {
      const contactId = pathId(params.contact_id, 'contact')
      const note = await updateNote(tenant, contactId, pathId(params.note_id, 'note'), body.content, clock())
      return { status: 'success' as const, note }
    },
  )

  app.delete(
    '/v1/contacts/:contact_id/notes/:note_id',
    {
      config: { access: 'contacts:write' },
      schema: {
        operationId: 'deleteNote',
        summary: 'Delete a note',
        tags: ['Notes'],
        params: NotePath,
        response: { 200: success({ deleted: Type.Literal(true), note_id: Type.String() }) },
      },
    },
    async ({ tenant, params }) => {
      const noteId = pathId(params.note_id, 'note')
      await deleteNote(tenant, pathId(params.contact_id, 'contact'), noteId)
      return { status: 'success' as const, deleted: true as const, note_id: noteId }
    },
  )
}
