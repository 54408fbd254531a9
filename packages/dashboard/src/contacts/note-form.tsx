import { Button, Group, Text, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { Form, FormError } from '../ui/form.tsx'
import { upTo } from '../ui/up-to.ts'
import { text } from './text.ts'

const LENGTH_MAX = 100_000

interface NoteFormProps {
  label: string
  /** The label of the button. */
  action: string
  initial?: string
  /** The field gets the focus when it grows. */
  asked?: number
  onSave: (content: string) => Promise<unknown>
  onCancel?: () => void
}

/** The form for a note. It keeps the text if saving fails. */
export function NoteForm({ label, action, initial = '', asked = 0, onSave, onCancel }: NoteFormProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (asked > 0) field.current?.focus()
  }, [asked])
  const [content, setContent] = useState(initial)
  const saving = useMutation({ mutationFn: () => onSave(content), onSuccess: () => setContent(initial && content) })
  const submit = () => {
    if (content.trim() !== '' && !saving.isPending) saving.mutate()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
  }
  return (
    <Form gap="xs" onSubmit={submit}>
      <Textarea
        ref={field}
        label={label}
        autosize
        minRows={2}
        maxRows={20}
        {...upTo(LENGTH_MAX)}
        dir="auto"
        value={content}
        onChange={(event) => setContent(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <FormError error={saving.error} />
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed">
          {text.notes.hint}
        </Text>
        <Group gap="xs">
          {onCancel ? (
            <Button variant="default" size="xs" onClick={onCancel}>
              {text.notes.cancel}
            </Button>
          ) : null}
          <Button type="submit" size="xs" disabled={content.trim() === ''} loading={saving.isPending}>
            {action}
          </Button>
        </Group>
      </Group>
    </Form>
  )
}
