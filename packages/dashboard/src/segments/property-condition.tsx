import { NativeSelect, TextInput } from '@mantine/core'
import type { Property } from '../api/properties.ts'
import { needsNoValue, type PropertyDraft, takesList } from './draft.ts'
import { fieldFor, operatorsFor } from './operators.ts'
import { text } from './text.ts'
import { ValueList, ValueText } from './value-field.tsx'

const words = text.builder

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
        aria-label={words.property}
        value={property}
        onChange={(event) => choose(event.currentTarget.value)}
        data={[
          { value: '', label: words.chooseProperty },
          // A filter may name a property that no contact has.
          ...(property !== '' && !isKnown ? [{ value: property, label: property.slice(0, 100) }] : []),
          ...options,
        ]}
      />
      <NativeSelect
        aria-label={words.comparison}
        value={operator}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...draft, operator: operators.find((each) => each === value) ?? operator })
        }
        data={(operators.includes(operator) ? operators : [operator, ...operators]).map((each) => ({
          value: each,
          label: text.operators[each],
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
        label={words.values}
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
        aria-label={words.value}
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
        data={[
          { value: '', label: words.choose },
          { value: 'true', label: words.yes },
          { value: 'false', label: words.no },
        ]}
      />
    )
  }
  if (kind !== 'text') {
    return (
      <TextInput
        aria-label={operator === 'within_days' ? words.days : words.value}
        type={kind}
        min={kind === 'number' ? 1 : undefined}
        value={kind === 'date' ? value.slice(0, 10) : value}
        onChange={(event) => change(event.currentTarget.value)}
        {...(operator === 'within_days' ? { rightSection: words.daysUnit, rightSectionWidth: 52 } : {})}
      />
    )
  }
  return <ValueText label={words.value} property={property} value={value} onChange={change} />
}
