import { Button, Card, Group, Stack, Text } from '@mantine/core'
import { IconNotes } from '@tabler/icons-react'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { createNote, deleteNote, type Note, notesQuery, refreshNotes, updateNote } from '../api/notes.ts'
import { useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Moment } from '../ui/text.tsx'
import { NoteForm } from './note-form.tsx'
import { text } from './text.ts'

// Loaded on demand: only needed if there is a note.
const Markdown = lazy(() => import('../ui/markdown.tsx').then((module) => ({ default: module.Markdown })))

/** The notes about a contact, newest first. @param asked each time it grows, the field for a new note gets the focus. */
export function Notes({ contactId, asked }: { contactId: string; asked: number }) {
  const queryClient = useQueryClient()
  const all = useInfiniteQuery(notesQuery(contactId))
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = all
  const mayWrite = useMay('contacts:write')
  // A note added meanwhile shifts the others to pages that are read later, so duplicates are removed.
  const notes = [...new Map(data?.pages.flatMap((page) => page.notes).map((note) => [note.note_id, note])).values()]
  const earlier = (data?.pages.at(-1)?.pagination.total_items ?? 0) - notes.length
  const add = async (content: string) => {
    await createNote(contactId, content)
    await refreshNotes(queryClient, contactId)
  }
  return (
    <Stack gap="md">
      {mayWrite ? (
        <Card>
          <NoteForm label={text.notes.new} action={text.notes.add} asked={asked} onSave={add} />
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
  const queryClient = useQueryClient()
  const [isEditing, setEditing] = useState(false)
  const refresh = () => refreshNotes(queryClient, note.contact_id)
  const save = async (content: string) => {
    await updateNote(note, content)
    await refresh()
    setEditing(false)
  }
  const remove = async () => {
    await deleteNote(note)
    await refresh()
  }
  if (isEditing) {
    return (
      <Card>
        <NoteForm
          label={text.notes.note}
          action={text.notes.save}
          initial={note.content}
          onSave={save}
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
              onConfirm={remove}
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
