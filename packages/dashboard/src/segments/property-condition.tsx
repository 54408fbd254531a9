import { NativeSelect, TextInput } from '@mantine/core'
import type { Property } from '../api/properties.ts'
import { needsNoValue, type PropertyDraft, takesList } from './draft.ts'
import { fieldFor, OPERATOR_WORDS, operatorsFor } from './operators.ts'
import { ValueList, ValueText } from './value-field.tsx'

interface PropertyConditionProps {
  draft: PropertyDraft
  properties: readonly Property[]
  onChange: (draft: PropertyDraft) => void
}

/** "Country – is – FR". */
export function PropertyCondition({ draft, properties, onChange }: PropertyConditionProps) {
  const { property, operator } = draft
  const type = properties.find(({ name }) => name === property)?.type
  const operators = operatorsFor(property, type)
  const choose = (name: string) => {
    const possible = operatorsFor(name, properties.find((each) => each.name === name)?.type)
    onChange({
      ...draft,
      property: name,
      operator: possible.includes(operator) ? operator : (possible[0] ?? 'equals'),
    })
  }
  const isKnown = properties.some(({ name }) => name === property)
  const options = properties.map(({ name, label }) => ({ value: name, label }))
  return (
    <>
      <NativeSelect
        aria-label="Property"
        value={property}
        onChange={(event) => choose(event.currentTarget.value)}
        data={[
          { value: '', label: 'Choose a property' },
          // A filter may name a property that no contact has.
          ...(property !== '' && !isKnown ? [{ value: property, label: property.slice(0, 100) }] : []),
          ...options,
        ]}
      />
      <NativeSelect
        aria-label="Comparison"
        value={operator}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...draft, operator: operators.find((each) => each === value) ?? operator })
        }
        data={(operators.includes(operator) ? operators : [operator, ...operators]).map((each) => ({
          value: each,
          label: OPERATOR_WORDS[each],
        }))}
      />
      {needsNoValue(operator) ? null : <Value draft={draft} type={type} onChange={onChange} />}
    </>
  )
}

function Value({
  draft,
  type,
  onChange,
}: {
  draft: PropertyDraft
  type: Property['type'] | undefined
  onChange: (draft: PropertyDraft) => void
}) {
  const { property, operator, value, values } = draft
  if (takesList(operator)) {
    return (
      <ValueList
        label="Values"
        property={property}
        values={values}
        onChange={(changed) => onChange({ ...draft, values: changed })}
      />
    )
  }
  const change = (changed: string) => onChange({ ...draft, value: changed })
  const kind = fieldFor(operator, type)
  if (kind === 'yes_no') {
    return (
      <NativeSelect
        aria-label="Value"
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
        data={[
          { value: '', label: 'Choose' },
          { value: 'true', label: 'yes' },
          { value: 'false', label: 'no' },
        ]}
      />
    )
  }
  if (kind !== 'text') {
    return (
      <TextInput
        aria-label={operator === 'within_days' ? 'Days' : 'Value'}
        type={kind}
        min={kind === 'number' ? 1 : undefined}
        value={kind === 'date' ? value.slice(0, 10) : value}
        onChange={(event) => change(event.currentTarget.value)}
      />
    )
  }
  return <ValueText label="Value" property={property} value={value} onChange={change} />
}
