import { Stack, Switch, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { type MeantDraft, type SharedDraft, unfinishedIn } from './draft.ts'
import { Conditions } from './meant-fields.tsx'
import { PeopleField } from './people-field.tsx'
import { text } from './text.ts'

const words = text.question

interface SharedFieldsProps {
  draft: SharedDraft
  onChange: (changes: Partial<SharedDraft>) => void
}

/** What the questions of all kinds ask at their end: which events count, and the period before. */
export function SharedFields({ draft, onChange }: SharedFieldsProps) {
  return (
    <>
      <EventFields draft={draft} onChange={onChange} />
      <Switch
        label={words.compare}
        checked={draft.compare !== undefined}
        onChange={(event) => onChange({ compare: event.currentTarget.checked ? 'previous_period' : undefined })}
      />
    </>
  )
}

/** Which events count: conditions on every event, whose events, bots. */
export function EventFields({ draft: { where, people, includeBots }, onChange }: SharedFieldsProps) {
  return (
    <>
      <Conditions where={where} label={words.everyEvent} onChange={(changed) => onChange({ where: changed })} />
      <PeopleField value={people} onChange={(changed) => onChange({ people: changed })} />
      <Switch
        label={words.bots}
        checked={includeBots}
        onChange={(event) => onChange({ includeBots: event.currentTarget.checked })}
      />
    </>
  )
}

/** Fields that belong together, below what they are about. */
export function FieldGroup({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      <Text size="sm" fw={500} aria-hidden>
        {label}
      </Text>
      {children}
    </Stack>
  )
}

interface FormStatusProps {
  draft: SharedDraft
  meant: readonly MeantDraft[]
  /** What is missing before it can be asked. */
  missing?: string | null
  isTooLong: boolean
}

/** Why the answer does not show what the form says. */
export function FormStatus({ draft, meant, missing = null, isTooLong }: FormStatusProps) {
  const unfinished = unfinishedIn(draft, meant)
  const status = [missing, isTooLong ? text.tooLong : null, unfinished > 0 ? words.unfinished(unfinished) : null]
  return (
    <Text size="sm" c="dimmed" role="status">
      {status.filter((each) => each !== null).join(' ')}
    </Text>
  )
}
