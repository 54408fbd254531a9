import { infiniteQueryOptions, type QueryClient } from '@tanstack/react-query'
import type Type from 'typebox'
import type { NoteObject } from '../../../server/src/contacts/notes/schema.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, send } from './client.ts'

export type Note = NoteObject

const pathOf = (contactId: string) => `/v1/contacts/${encodeURIComponent(contactId)}/notes`

/** Ten notes fit into one response, however long they are. */
const PAGE_LENGTH = 10

/** The notes of a contact, newest first, in pages. */
export const notesQuery = (contactId: string) =>
  infiniteQueryOptions({
    queryKey: ['notes', contactId],
    queryFn: ({ signal, pageParam }) =>
      get<{ notes: Note[]; pagination: Type.Static<typeof Pagination> }>(
        pathOf(contactId),
        { page: pageParam, limit: PAGE_LENGTH },
        signal,
      ),
    initialPageParam: 1,
    getNextPageParam: ({ pagination: { page, total_pages: pages } }) => (page < pages ? page + 1 : undefined),
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
