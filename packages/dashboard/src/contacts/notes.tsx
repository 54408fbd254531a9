import { Button, Card, Group, Stack, Text } from '@mantine/core'
import { IconNotes } from '@tabler/icons-react'
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { call } from '../api/client.ts'
import { keyOf, useOperation } from '../api/operation.ts'
import type { Note } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Moment } from '../ui/text.tsx'
import { NoteForm } from './note-form.tsx'
import { text } from './text.ts'

// Loaded on demand: only needed if there is a note.
const Markdown = lazy(() => import('../ui/markdown.tsx').then((module) => ({ default: module.Markdown })))

/** Ten notes fit into one response, however long they are. */
const PAGE_LENGTH = 10

/** The notes about a contact, newest first, in pages. */
export const notesQuery = (contact_id: string) =>
  infiniteQueryOptions({
    queryKey: keyOf('listNotes', { contact_id }),
    queryFn: ({ signal, pageParam }) => call('listNotes', { contact_id, page: pageParam, limit: PAGE_LENGTH }, signal),
    initialPageParam: 1,
    getNextPageParam: ({ pagination: { page, total_pages: pages } }) => (page < pages ? page + 1 : undefined),
  })

/** The notes about a contact, newest first. @param asked each time it grows, the field for a new note gets the focus. */
export function Notes({ contactId, asked }: { contactId: string; asked: number }) {
  const all = useInfiniteQuery(notesQuery(contactId))
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = all
  const mayWrite = useMay('contacts:write')
  // A note added meanwhile shifts the others to pages that are read later, so duplicates are removed.
  const notes = [...new Map(data?.pages.flatMap((page) => page.notes).map((note) => [note.note_id, note])).values()]
  const earlier = (data?.pages.at(-1)?.pagination.total_items ?? 0) - notes.length
  const adding = useOperation('createNote')
  return (
    <Stack gap="md">
      {mayWrite ? (
        <Card>
          <NoteForm
            label={text.notes.new}
            action={text.notes.add}
            asked={asked}
            onSave={(content) => adding.mutateAsync({ contact_id: contactId, content })}
          />
        </Card>
      ) : null}
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={4} /> : null}
      {data && notes.length === 0 ? (
        <EmptyState icon={IconNotes} title={text.notes.none}>
          {text.notes.noneHint}
        </EmptyState>
      ) : null}
      {notes.map((note) => (
        <NoteCard key={note.note_id} note={note} mayWrite={mayWrite} />
      ))}
      {error && data ? <ErrorState error={error} onRetry={fetchNextPage} /> : null}
      {hasNextPage ? (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {text.notes.earlier(earlier)}
        </Button>
      ) : null}
    </Stack>
  )
}

function NoteCard({ note, mayWrite }: { note: Note; mayWrite: boolean }) {
  const { contact_id, note_id } = note
  const [isEditing, setEditing] = useState(false)
  const saving = useOperation('updateNote', { onDone: () => setEditing(false) })
  const removing = useOperation('deleteNote')
  if (isEditing) {
    return (
      <Card>
        <NoteForm
          label={text.notes.note}
          action={text.notes.save}
          initial={note.content}
          onSave={(content) => saving.mutateAsync({ contact_id, note_id, content })}
          onCancel={() => setEditing(false)}
        />
      </Card>
    )
  }
  return (
    <Card component="article" aria-label={text.notes.note}>
      <Group justify="space-between" mb="xs" gap="xs">
        <Text size="xs" c="dimmed">
          <Moment at={note.created_at} />
          {note.updated_at === note.created_at ? null : (
            <>
              {text.notes.changed}
              <Moment at={note.updated_at} />
            </>
          )}
        </Text>
        {mayWrite ? (
          <Group gap={4}>
            <Button variant="subtle" size="compact-xs" onClick={() => setEditing(true)}>
              {text.notes.edit}
            </Button>
            <ConfirmButton
              variant="subtle"
              color="gray"
              size="compact-xs"
              title={text.notes.deleteTitle}
              explanation={text.notes.deleteExplanation}
              confirmLabel={text.notes.deleteConfirm}
              onConfirm={() => removing.mutateAsync({ contact_id, note_id })}
            >
              {text.notes.delete}
            </ConfirmButton>
          </Group>
        ) : null}
      </Group>
      <Suspense fallback={<LoadingState lines={2} />}>
        <Markdown>{note.content}</Markdown>
      </Suspense>
    </Card>
  )
}
