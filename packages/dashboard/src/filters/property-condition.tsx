import { NativeSelect, TextInput } from '@mantine/core'
import { useContext } from 'react'
import { needsNoValue, type PropertyDraft, type PropertyOperator, takesList } from './draft.ts'
import type { FieldType } from './draft-filter.ts'
import { SEGMENT } from './fields.ts'
import { FilterContext } from './filter-context.tsx'
import { PropertyField } from './property-field.tsx'
import { text } from './text.ts'
import { SegmentNames, ValueList, ValueText } from './value-field.tsx'

const words = text.builder

interface PropertyConditionProps {
  draft: PropertyDraft
  onChange: (draft: PropertyDraft) => void
  /** Whether the property is to be chosen now. */
  isNew: boolean
}

/** "Country – is – FR". */
export function PropertyCondition({ draft, onChange, isNew }: PropertyConditionProps) {
  const { property, operator } = draft
  const { fields, isOfEvents } = useContext(FilterContext)
  const typeOf = (name: string) => fields.find((field) => field.name === name)?.type
  const choose = (name: string) => {
    const possible = operatorsFor(name, typeOf(name), isOfEvents)
    onChange({
      ...draft,
      property: name,
      operator: possible.includes(operator) ? operator : (possible[0] ?? 'equals'),
    })
  }
  return (
    <>
      <PropertyField label={words.property} value={property} onChange={choose} autoFocus={isNew} />
      <Comparison draft={draft} operators={operatorsFor(property, typeOf(property), isOfEvents)} onChange={onChange} />
      {needsNoValue(operator) ? null : <Value draft={draft} type={typeOf(property)} onChange={onChange} />}
    </>
  )
}

interface ComparisonProps {
  draft: PropertyDraft
  operators: readonly PropertyOperator[]
  onChange: (draft: PropertyDraft) => void
}

export function Comparison({ draft, operators, onChange }: ComparisonProps) {
  const { operator, value, values } = draft
  const choose = (chosen: PropertyOperator) => {
    // A value becomes the first of a list, and the other way round.
    const isList = takesList(chosen)
    const moved =
      isList === takesList(operator)
        ? {}
        : isList
          ? { values: value === '' ? [] : [value] }
          : { value: values[0] ?? '' }
    onChange({ ...draft, operator: chosen, ...moved })
  }
  return (
    <NativeSelect
      aria-label={words.comparison}
      value={operator}
      onChange={(event) => choose(operators.find((each) => each === event.currentTarget.value) ?? operator)}
      data={(operators.includes(operator) ? operators : [operator, ...operators]).map((each) => ({
        value: each,
        label: text.operators[each],
      }))}
    />
  )
}

function Value({
  draft,
  type,
  onChange,
}: {
  draft: PropertyDraft
  type: FieldType | undefined
  onChange: (draft: PropertyDraft) => void
}) {
  const { property, operator, value, values } = draft
  if (property === SEGMENT && takesList(operator)) {
    return <SegmentNames ids={values} onChange={(changed) => onChange({ ...draft, values: changed })} />
  }
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
const OF_PARTS: PropertyOperator[] = ['contains', 'not_contains', 'starts_with', 'ends_with']
const OF_TEXT: PropertyOperator[] = ['equals', 'not_equals', ...OF_PARTS, 'in', 'not_in', ...KNOWN]
const OF_NUMBERS: PropertyOperator[] = ['equals', 'not_equals', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', ...KNOWN]
const OF_TIME: PropertyOperator[] = ['before', 'after', 'within_days', ...KNOWN]
const COLUMNS_OF_TEXT = ['email', 'company_id', 'creation_source', 'name', 'domain', 'company.name', 'company.domain']
const COLUMNS_OF_TIME = ['created_at', 'updated_at', 'first_seen_at', 'company.created_at', 'company.updated_at']

/** The operators that a property supports. */
function operatorsFor(name: string, type: FieldType | undefined, isOfEvents: boolean): readonly PropertyOperator[] {
  const property = name.replace(/^contact\./, '')
  if (property === SEGMENT) return ['in', 'not_in']
  const isColumn = isOfEvents && !name.startsWith('contact.') && !/^(data|company)\./.test(name) && name !== ''
  if (COLUMNS_OF_TIME.includes(property) || (isColumn && type === 'date')) return OF_TIME
  if (COLUMNS_OF_TEXT.includes(property) || (isColumn && type === 'text')) return OF_TEXT
  if (type === 'number') return OF_NUMBERS
  if (type === 'boolean') return ['equals', 'not_equals', ...KNOWN]
  if (type === 'date') return [...OF_TIME, 'equals', 'not_equals']
  // A property may have any type: numbers and dates in texts compare too.
  return [...OF_TEXT, 'gt', 'gte', 'lt', 'lte', 'before', 'after', 'within_days']
}

/** The input for a value. */
function fieldFor(operator: PropertyOperator, type: FieldType | undefined): 'text' | 'number' | 'date' | 'yes_no' {
  if (operator === 'before' || operator === 'after') return 'date'
  if (operator === 'within_days') return 'number'
  return type === 'boolean' ? 'yes_no' : 'text'
}
