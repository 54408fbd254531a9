import { NativeSelect, NumberInput, Stack, Text } from '@mantine/core'
import { replaceIn } from '../filters/draft.ts'
import { FilterOf } from '../filters/filter-context.tsx'
import { WhereFields } from '../filters/where-fields.tsx'
import { EventPropertyField } from '../insights/event-property-field.tsx'
import { EventField } from '../ui/event-field.tsx'
import { type ComputedFunction, DAYS_MAX, type DefinitionDraft, needsProperty } from './definition-draft.ts'
import { text } from './text.ts'

const words = text.functionFields
const FUNCTIONS = Object.keys(words.functions) as ComputedFunction[]
const OF_NUMBERS: readonly ComputedFunction[] = ['sum', 'avg', 'min', 'max']

interface FunctionFieldsProps {
  draft: DefinitionDraft
  onChange: (changes: Partial<DefinitionDraft>) => void
}

/** Which figure of which events is computed. */
export function FunctionFields({ draft, onChange }: FunctionFieldsProps) {
  const { event, where, property, withinDays } = draft
  return (
    <>
      <NativeSelect
        label={words.function}
        value={draft.function}
        onChange={({ currentTarget: { value } }) =>
          onChange({ function: FUNCTIONS.find((each) => each === value) ?? draft.function })
        }
        data={FUNCTIONS.map((value) => ({ value, label: words.functions[value] }))}
      />
      <EventField label={words.event} required value={event} onChange={(chosen) => onChange({ event: chosen })} />
      {needsProperty(draft.function) ? (
        <Stack gap={4}>
          {/* The field has the same name of its own. */}
          <Text size="sm" fw={500} aria-hidden>
            {words.property}
          </Text>
          <EventPropertyField
            label={words.property}
            event={event}
            isNumber={OF_NUMBERS.includes(draft.function)}
            value={property}
            onChange={(chosen) => onChange({ property: chosen })}
          />
        </Stack>
      ) : null}
      {event === '' ? (
        <Text size="sm" c="dimmed">
          {words.chooseEvent}
        </Text>
      ) : (
        <FilterOf filtered="events-of-contact" event={event}>
          <WhereFields
            group={where}
            level={1}
            onReplace={(id, changed) => onChange({ where: replaceIn(where, id, changed) })}
          />
        </FilterOf>
      )}
      <NumberInput
        label={words.withinDays}
        description={words.withinDaysHint}
        suffix={words.withinDaysUnit}
        min={1}
        max={DAYS_MAX}
        allowDecimal={false}
        maw={240}
        value={withinDays}
        onChange={(typed) => onChange({ withinDays: String(typed) })}
      />
    </>
  )
}
