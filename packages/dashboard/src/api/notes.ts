import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { NoteObject } from '../../../server/src/notes/schema.ts'
import { get, send } from './client.ts'

export type Note = NoteObject

const pathOf = (contactId: string) => `/v1/contacts/${encodeURIComponent(contactId)}/notes`

export const notesQuery = (contactId: string) =>
  queryOptions({
    queryKey: ['notes', contactId],
    queryFn: ({ signal }) => get<{ notes: Note[]; total_items: number }>(pathOf(contactId), {}, signal),
  })

export function createNote(contactId: string, content: string) {
  return send<{ note: Note }>('POST', pathOf(contactId), { content })
}

export function updateNote({ contact_id, note_id }: Note, content: string) {
  return send<{ note: Note }>('PATCH', `${pathOf(contact_id)}/${encodeURIComponent(note_id)}`, { content })
}

export function deleteNote({ contact_id, note_id }: Note) {
  return send('DELETE', `${pathOf(contact_id)}/${encodeURIComponent(note_id)}`)
}

export function refreshNotes(queryClient: QueryClient, contactId: string): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: notesQuery(contactId).queryKey })
}
