import Type from 'typebox'
import type { App } from '../platform/http/app-types.ts'
import { pathId, success } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { createNote, deleteNote, listNotes, updateNote } from './notes.ts'
import { Note, NoteContent } from './schema.ts'

const ContactPath = Type.Object({ contact_id: Type.String() })
const NotePath = Type.Object({ contact_id: Type.String(), note_id: Type.String() })
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
        tags: ['Notes'],
        params: ContactPath,
        response: { 200: success({ notes: Type.Array(Note), total_items: Type.Integer() }) },
      },
    },
    async ({ tenant, params }) => {
      const notes = await listNotes(tenant, pathId(params.contact_id, 'contact'))
      return { status: 'success' as const, notes, total_items: notes.length }
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
