import { ActionIcon, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import {
  type EventDraft,
  type MatchDraft,
  newMatch,
  type SequenceDraft,
  STEPS_MAX,
  STEPS_MIN,
  type WithinUnit,
} from './draft.ts'
import { Amount, MatchFields } from './match-fields.tsx'
import { text } from './text.ts'

const words = text.builder

interface ConditionProps<Draft> {
  draft: Draft
  onChange: (draft: Draft) => void
  /** Of the filter around it. */
  level: number
  isNew: boolean
}

/** "Has done – Viewed a page – at least 2 times". */
export function EventCondition({ draft, onChange, level, isNew }: ConditionProps<EventDraft>) {
  return (
    <MatchFields
      draft={draft.event}
      onChange={(event) => onChange({ ...draft, event })}
      level={level}
      isNew={isNew}
      isCounted
    >
      <HasDone value={draft.operator} onChange={(operator) => onChange({ ...draft, operator })} />
    </MatchFields>
  )
}

const UNITS = Object.keys(text.units) as WithinUnit[]

/** "Has done – Viewed a page – then – Order paid – within 7 days". */
export function SequenceCondition({ draft, onChange, level, isNew }: ConditionProps<SequenceDraft>) {
  const { operator, steps, within, unit } = draft
  const [added, setAdded] = useState('')
  const add = () => {
    const step = newMatch()
    setAdded(step.id)
    onChange({ ...draft, steps: [...steps, step] })
  }
  const change = (id: string, changed: MatchDraft | null) =>
    onChange({ ...draft, steps: steps.flatMap((step) => (step.id === id ? (changed ?? []) : step)) })
  return (
    <Stack gap="xs" flex="1 1 320px" miw={0}>
      {steps.map((step, index) => (
        <Group key={step.id} role="group" aria-label={words.step(index + 1)} gap="xs" align="flex-start" wrap="nowrap">
          <MatchFields
            draft={step}
            onChange={(changed) => change(step.id, changed)}
            level={level}
            isNew={step.id === added || (isNew && index === 0)}
            isCounted={false}
          >
            {index === 0 ? (
              <HasDone value={operator} onChange={(changed) => onChange({ ...draft, operator: changed })} />
            ) : (
              <Text size="sm" c="dimmed">
                {words.followedBy}
              </Text>
            )}
          </MatchFields>
          {steps.length > STEPS_MIN ? (
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              mt={6}
              aria-label={words.removeStep(index + 1)}
              onClick={() => change(step.id, null)}
            >
              <IconX size={14} aria-hidden />
            </ActionIcon>
          ) : null}
        </Group>
      ))}
      <Group gap="xs">
        <Amount
          label={words.withinLabel}
          before={words.within}
          value={within}
          placeholder=""
          onChange={(value) => onChange({ ...draft, within: value })}
        />
        <NativeSelect
          aria-label={words.unit}
          value={unit}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...draft, unit: UNITS.find((each) => each === value) ?? unit })
          }
          data={UNITS.map((each) => ({ value: each, label: text.units[each] }))}
        />
        {steps.length < STEPS_MAX ? (
          <Button variant="subtle" size="compact-sm" leftSection={<IconPlus size={14} aria-hidden />} onClick={add}>
            {words.addStep}
          </Button>
        ) : null}
      </Group>
    </Stack>
  )
}

function HasDone({ value, onChange }: { value: 'did' | 'did_not'; onChange: (operator: 'did' | 'did_not') => void }) {
  return (
    <NativeSelect
      aria-label={words.hasDone}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value === 'did' ? 'did' : 'did_not')}
      data={words.operators}
    />
  )
}
