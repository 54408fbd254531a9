import { Group, NativeSelect, NumberInput, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { MeantFields } from './meant-fields.tsx'
import { INTERVALS } from './question.ts'
import { RangeField } from './range-field.tsx'
import type { RetentionDraft } from './retention-draft.ts'
import { INTERVALS_MAX, INTERVALS_MIN } from './retention-question.ts'
import { FieldGroup, FormStatus, SharedFields } from './shared-fields.tsx'
import { text } from './text.ts'

const words = text.retention

interface RetentionFieldsProps {
  draft: RetentionDraft
  isTooLong: boolean
  onChange: (changes: Partial<RetentionDraft>) => void
}

/** The question of a retention: what people start with, what they come back for, and when. */
export function RetentionFields({ draft, isTooLong, onChange }: RetentionFieldsProps) {
  const { isFirstSeen, start, interval, intervals, mode, range } = draft
  const choose = <Value extends string>(values: readonly Value[], value: string, before: Value) =>
    values.find((each) => each === value) ?? before
  return (
    <Stack gap="md">
      <FieldGroup label={words.start}>
        <NativeSelect
          aria-label={words.startKind}
          value={isFirstSeen ? 'first_seen' : 'event'}
          onChange={(event) => onChange({ isFirstSeen: event.currentTarget.value === 'first_seen' })}
          data={words.starts}
        />
        {isFirstSeen ? null : (
          <MeantFields name={words.startName} draft={start} onChange={(changed) => onChange({ start: changed })} />
        )}
      </FieldGroup>
      <FieldGroup label={words.return}>
        <MeantFields
          name={words.returnName}
          draft={draft.return}
          onChange={(changed) => onChange({ return: changed })}
        />
        <NativeSelect
          aria-label={words.mode}
          value={mode}
          onChange={(event) => onChange({ mode: event.currentTarget.value === 'on' ? 'on' : 'on_or_after' })}
          data={words.modes}
        />
      </FieldGroup>
      <Row>
        <RangeField range={range} onChange={(changed) => onChange({ range: changed })} />
        <NativeSelect
          aria-label={text.trend.interval}
          value={interval}
          onChange={(event) => onChange({ interval: choose(INTERVALS, event.currentTarget.value, interval) })}
          data={INTERVALS.map((each) => ({ value: each, label: text.trend.intervals[each] }))}
        />
      </Row>
      <NumberInput
        label={words.intervals}
        min={INTERVALS_MIN}
        max={INTERVALS_MAX}
        clampBehavior="blur"
        allowDecimal={false}
        value={intervals}
        onChange={(value) => {
          const count = Number(value)
          if (count >= INTERVALS_MIN && count <= INTERVALS_MAX) onChange({ intervals: count })
        }}
        w={140}
      />
      <SharedFields draft={draft} onChange={onChange} />
      <FormStatus draft={draft} meant={isFirstSeen ? [draft.return] : [start, draft.return]} isTooLong={isTooLong} />
    </Stack>
  )
}

function Row({ children }: { children: ReactNode }) {
  return (
    <Group gap="xs" align="flex-end">
      {children}
    </Group>
  )
}
