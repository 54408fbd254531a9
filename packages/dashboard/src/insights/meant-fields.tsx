import { Button, Stack } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { type GroupDraft, newProperty, replaceIn } from '../filters/draft.ts'
import { FilterOf } from '../filters/filter-context.tsx'
import { EventNames } from '../filters/value-field.tsx'
import { WhereFields } from '../filters/where-fields.tsx'
import { EventField } from '../ui/event-field.tsx'
import type { MeantDraft } from './draft.ts'
import { text } from './text.ts'

const words = text.question

interface MeantFieldsProps<Draft> {
  /** What it is in the question ("series A"), for screen readers. */
  name: string
  draft: Draft
  onChange: (draft: Draft) => void
  autoFocus?: boolean
}

/** Which events are meant: a name, and conditions on the event. */
export function MeantFields<Draft extends MeantDraft>({ name, draft, onChange, autoFocus }: MeantFieldsProps<Draft>) {
  const { event, types, where } = draft
  return (
    <Stack gap="xs">
      {types === undefined ? (
        <EventField
          aria-label={words.eventOf(name)}
          placeholder={words.anyEvent}
          clearable
          value={event}
          autoFocus={autoFocus ?? false}
          onChange={(chosen) => onChange({ ...draft, event: chosen })}
        />
      ) : (
        <EventNames
          label={words.eventOf(name)}
          values={types}
          onChange={(names) => onChange({ ...draft, types: names })}
        />
      )}
      <Conditions where={where} event={event} onChange={(changed) => onChange({ ...draft, where: changed })} />
    </Stack>
  )
}

interface ConditionsProps {
  where: GroupDraft
  /** The name of the events that they are about. */
  event?: string
  /** The button that adds the first one. */
  label?: string
  onChange: (where: GroupDraft) => void
}

/** Conditions on events, all of which must match. Without any, there is a button that adds one. */
export function Conditions({ where, event, label = words.addCondition, onChange }: ConditionsProps) {
  if (where.conditions.length === 0) {
    return (
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<IconPlus size={14} aria-hidden />}
        style={{ alignSelf: 'flex-start' }}
        onClick={() => onChange({ ...where, conditions: [newProperty()] })}
      >
        {label}
      </Button>
    )
  }
  return (
    <FilterOf filtered="events" event={event}>
      <WhereFields group={where} level={1} onReplace={(id, changed) => onChange(replaceIn(where, id, changed))} />
    </FilterOf>
  )
}
