import { NativeSelect, TextInput } from '@mantine/core'
import type { Property } from '../api/types.ts'
import { needsNoValue, type PropertyDraft, type PropertyOperator, takesList } from './draft.ts'
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

const KNOWN: PropertyOperator[] = ['is_set', 'is_not_set']
const OF_TEXT: PropertyOperator[] = ['equals', 'not_equals', 'contains', 'not_contains', 'in', 'not_in', ...KNOWN]
const OF_NUMBERS: PropertyOperator[] = ['equals', 'not_equals', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', ...KNOWN]
const OF_TIME: PropertyOperator[] = ['before', 'after', 'within_days', ...KNOWN]
const COLUMNS_OF_TEXT = ['email', 'company_id', 'creation_source', 'name', 'domain']
const COLUMNS_OF_TIME = ['created_at', 'updated_at', 'first_seen_at']

/** The operators that a property supports. */
function operatorsFor(property: string, type: string | undefined): PropertyOperator[] {
  if (COLUMNS_OF_TIME.includes(property)) return OF_TIME
  if (COLUMNS_OF_TEXT.includes(property)) return OF_TEXT
  if (type === 'number') return OF_NUMBERS
  if (type === 'boolean') return ['equals', 'not_equals', ...KNOWN]
  if (type === 'date') return [...OF_TIME, 'equals', 'not_equals']
  // A property may have any type: numbers and dates in texts compare too.
  return [...OF_TEXT, 'gt', 'gte', 'lt', 'lte', 'before', 'after', 'within_days']
}

/** The input for a value. */
function fieldFor(operator: PropertyOperator, type: string | undefined): 'text' | 'number' | 'date' | 'yes_no' {
  if (operator === 'before' || operator === 'after') return 'date'
  if (operator === 'within_days') return 'number'
  return type === 'boolean' ? 'yes_no' : 'text'
}
