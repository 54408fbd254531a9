import { infiniteQueryOptions, type QueryClient } from '@tanstack/react-query'
import type { Note } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { Note }

/** Ten notes fit into one response, however long they are. */
const PAGE_LENGTH = 10

/** The notes of a contact, newest first, in pages. */
export const notesQuery = (contact_id: string) =>
  infiniteQueryOptions({
    queryKey: ['notes', contact_id],
    queryFn: ({ signal, pageParam }) => call('listNotes', { contact_id, page: pageParam, limit: PAGE_LENGTH }, signal),
    initialPageParam: 1,
    getNextPageParam: ({ pagination: { page, total_pages: pages } }) => (page < pages ? page + 1 : undefined),
  })

export function createNote(contact_id: string, content: string) {
  return call('createNote', { contact_id, content })
}

export function updateNote({ contact_id, note_id }: Note, content: string) {
  return call('updateNote', { contact_id, note_id, content })
}

export function deleteNote({ contact_id, note_id }: Note) {
  return call('deleteNote', { contact_id, note_id })
}

export function refreshNotes(queryClient: QueryClient, contactId: string): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: notesQuery(contactId).queryKey })
}
