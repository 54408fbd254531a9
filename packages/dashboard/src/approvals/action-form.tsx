import { Box, Button, Group, Text, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { MailPreview } from '../agents/mail-preview.tsx'
import { Form } from '../ui/form.tsx'
import { upTo } from '../ui/up-to.ts'
import { text as words } from './text.ts'
import type { WaitingAction } from './waiting.ts'

interface ActionFormProps {
  action: WaitingAction
  /** Whether an approval would fail. */
  isBlocked: boolean
  onApprove: (params: Record<string, unknown>) => void
  onCancel: () => void
}

/** Edits the content of an action before it is approved. */
export function ActionForm({ action: { type, params }, isBlocked, onApprove, onCancel }: ActionFormProps) {
  const [draft, setDraft] = useState<Record<string, string>>(() => draftOf(type, params))
  const [asked] = useDebouncedValue(draft, 400)
  const set = (name: string) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget
    setDraft((before) => ({ ...before, [name]: value }))
  }
  return (
    <Form
      gap="sm"
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
      onSubmit={() => onApprove(paramsOf(type, params, draft))}
    >
      {type === 'email_message' ? (
        <TextInput
          label={words.form.subject}
          required
          {...upTo(200)}
          value={draft.subject ?? ''}
          onChange={set('subject')}
          autoFocus
        />
      ) : null}
      {type === 'crm_update' ? (
        Object.keys(draft).map((name, index) => (
          <TextInput
            key={name}
            label={name.slice(0, 100)}
            value={draft[name] ?? ''}
            onChange={set(name)}
            autoFocus={index === 0}
          />
        ))
      ) : (
        <Textarea
          label={type === 'note' ? words.form.note : words.form.message}
          description={type === 'email_message' || type === 'note' ? words.form.markdown : undefined}
          required={type !== 'social_connect'}
          {...upTo(LENGTH_MAX[type])}
          autosize
          minRows={5}
          maxRows={24}
          value={draft.text ?? ''}
          onChange={set('text')}
          autoFocus={type !== 'email_message'}
        />
      )}
      {type === 'email_message' ? (
        <Box component="section" aria-label={words.form.preview}>
          <Text size="sm" fw={500} mb={4}>
            {words.form.preview}
          </Text>
          <MailPreview subject={asked.subject ?? ''} message={asked.text ?? ''} />
        </Box>
      ) : null}
      <Group gap="xs">
        <Button type="submit" disabled={isBlocked}>
          {words.form.approve}
        </Button>
        <Button variant="default" onClick={onCancel}>
          {words.form.cancel}
        </Button>
      </Group>
    </Form>
  )
}

const LENGTH_MAX = { email_message: 20_000, social_message: 8_000, social_connect: 300, note: 20_000 } as const

type Params = Record<string, unknown>

function draftOf(type: WaitingAction['type'], params: Params): Record<string, string> {
  if (type === 'crm_update') {
    const properties = Object(params.properties) as Params
    return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, textOf(value)]))
  }
  const text = textOf(type === 'note' ? params.content : params.message)
  return type === 'email_message' ? { subject: textOf(params.subject), text } : { text }
}

function paramsOf(type: WaitingAction['type'], before: Params, draft: Record<string, string>): Params {
  const text = draft.text ?? ''
  switch (type) {
    case 'email_message':
      return { subject: draft.subject ?? '', message: text }
    case 'social_message':
      return { message: text }
    case 'social_connect':
      return text.trim() === '' ? {} : { message: text }
    case 'note':
      return { content: text }
    case 'crm_update': {
      const properties = Object(before.properties) as Params
      const changed = Object.entries(draft).map(([name, value]) => [name, typedValue(properties[name], value)])
      return { properties: Object.fromEntries(changed) }
    }
  }
}

/** A number stays a number, an empty field removes the property, and unchanged values stay as they are. */
function typedValue(before: unknown, typed: string): unknown {
  if (typed === textOf(before)) return before
  if (typed === '') return null
  if (typeof before === 'number' && Number.isFinite(Number(typed))) return Number(typed)
  if (typeof before === 'boolean' && (typed === 'true' || typed === 'false')) return typed === 'true'
  return typed
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value)
}
