import { NativeSelect, Text, TextInput } from '@mantine/core'
import type { MatchDraft, Measure, PropertyDraft } from './draft.ts'
import { needsNoValue } from './draft.ts'
import { Comparison, PropertyCondition } from './property-condition.tsx'
import { PropertyField } from './property-field.tsx'
import { text } from './text.ts'

const words = text.builder
const MEASURES = Object.keys(text.measures) as Measure[]
type MeasureDraft = NonNullable<MatchDraft['measure']>

/** "with a sum of Amount that is at least 100". */
export function MeasureFields({
  measure: { function: name, on },
  onChange,
}: {
  measure: MeasureDraft
  onChange: (measure: MeasureDraft) => void
}) {
  const change = (changed: PropertyDraft) => onChange({ function: name, on: changed })
  const choose = (chosen: Measure) => {
    // A figure is a number; the first or last value is of any kind.
    const operator = isOfValue(chosen) || OF_FIGURES.includes(on.operator) ? on.operator : 'gte'
    onChange({ function: chosen, on: { ...on, operator } })
  }
  return (
    <>
      <NativeSelect
        aria-label={words.measureFunction}
        value={name}
        onChange={({ currentTarget: { value } }) => choose(MEASURES.find((each) => each === value) ?? name)}
        data={MEASURES.map((each) => ({ value: each, label: text.measures[each] }))}
      />
      <Text size="sm" c="dimmed">
        {words.of}
      </Text>
      {isOfValue(name) ? (
        <PropertyCondition draft={on} onChange={change} isNew={false} />
      ) : (
        <>
          <PropertyField
            label={words.property}
            value={on.property}
            onChange={(property) => change({ ...on, property })}
          />
          <Comparison draft={on} operators={OF_FIGURES} onChange={change} />
          {needsNoValue(on.operator) ? null : (
            <TextInput
              aria-label={words.value}
              type="number"
              step="any"
              w={120}
              value={on.value}
              onChange={(event) => change({ ...on, value: event.currentTarget.value })}
            />
          )}
        </>
      )}
    </>
  )
}

const isOfValue = (measure: Measure) => measure === 'first' || measure === 'last'
const OF_FIGURES: readonly PropertyDraft['operator'][] = [
  'gte',
  'gt',
  'lte',
  'lt',
  'equals',
  'not_equals',
  'is_set',
  'is_not_set',
]
