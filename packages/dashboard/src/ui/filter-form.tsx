import { Button, Fieldset, Group, NativeSelect, Stack, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { EventField } from './event-field.tsx'
import { eventLabel } from './event-words.ts'
import { Form } from './form.tsx'
import { text } from './text.ts'
import { upTo } from './up-to.ts'

export type FilterValue = string | number | boolean | undefined
export type FilterValues = Record<string, FilterValue>

/** A filter of a list; its name is the search parameter's and the service's. */
export interface FilterField {
  name: string
  label: string
  kind: 'text' | 'number' | 'date' | 'yes_no' | 'choice' | 'event'
  /** For a choice. */
  options?: readonly { value: string; label: string }[]
  /** The heading of its group. */
  group?: string
  description?: string
  /** For a text: suggestions while typing. */
  suggestions?: readonly string[] | undefined
  /** Set only by links: it can be removed, but not entered. */
  isOnlyInLinks?: boolean
}

interface FilterFormProps {
  fields: readonly FilterField[]
  values: FilterValues
  /** Before the fields. */
  more?: ReactNode
  /** When everything is cleared. */
  onClear?: (() => void) | undefined
  onApply: (values: FilterValues) => void
}

/** All filters of a list as a form. */
export function FilterForm({ fields: all, values, more, onClear, onApply }: FilterFormProps) {
  const fields = all.filter(({ isOnlyInLinks }) => !isOnlyInLinks)
  const [texts, setTexts] = useState(() => Object.fromEntries(fields.map(({ name }) => [name, textOf(values[name])])))
  const groups = [...new Set(fields.map(({ group }) => group))]
  const apply = () => {
    onApply(Object.fromEntries(fields.map((field) => [field.name, toValue(field, texts[field.name] ?? '')])))
  }
  const clear = () => {
    setTexts({})
    onClear?.()
  }
  const inputs = (group: string | undefined) =>
    fields
      .filter((field) => field.group === group)
      .map((field) => (
        <FilterInput
          key={field.name}
          isFirst={field === fields[0]}
          field={field}
          value={texts[field.name] ?? ''}
          onChange={(value) => setTexts((before) => ({ ...before, [field.name]: value }))}
        />
      ))
  return (
    <Form onSubmit={apply}>
      {more}
      {groups.map((group) =>
        group === undefined ? (
          <Stack key="" gap="sm">
            {inputs(group)}
          </Stack>
        ) : (
          <Fieldset key={group} legend={group}>
            <Stack gap="sm">{inputs(group)}</Stack>
          </Fieldset>
        ),
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={clear}>
          {text.filters.clearAll}
        </Button>
        <Button type="submit">{text.filters.apply}</Button>
      </Group>
    </Form>
  )
}

interface FilterInputProps {
  field: FilterField
  /** Gets the focus when the filters open. */
  isFirst: boolean
  value: string
  onChange: (value: string) => void
}

function FilterInput({ field, isFirst, value, onChange }: FilterInputProps) {
  const { name, label, kind, options = [], description, suggestions } = field
  const props = { name, label, description, value, 'data-autofocus': isFirst || undefined }
  const change = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value)
  if (kind === 'choice' || kind === 'yes_no') {
    const choices = kind === 'yes_no' ? YES_NO : options
    return <NativeSelect {...props} onChange={change} data={[{ value: '', label: text.filters.any }, ...choices]} />
  }
  if (kind === 'event') return <EventField {...props} clearable value={value} onChange={onChange} />
  const list = suggestions ? `suggestions-${name}` : undefined
  return (
    <>
      <TextInput {...props} onChange={change} type={kind} {...(kind === 'text' ? upTo(1_000) : {})} list={list} />
      {suggestions ? (
        <datalist id={list}>
          {suggestions.slice(0, 200).map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      ) : null}
    </>
  )
}

const YES_NO = [
  { value: 'true', label: text.filters.yes },
  { value: 'false', label: text.filters.no },
]

function textOf(value: FilterValue): string {
  return value === undefined ? '' : String(value)
}

function toValue({ kind }: FilterField, typed: string): FilterValue {
  const trimmed = typed.trim()
  if (trimmed === '') return undefined
  if (kind === 'yes_no') return trimmed === 'true'
  return kind === 'number' ? Number(trimmed) : trimmed
}

/** The label of a filter's value. */
export function valueText({ kind, options = [] }: FilterField, value: FilterValue): string {
  if (kind === 'event') return eventLabel(textOf(value))
  if (kind === 'yes_no') return value === true ? text.filters.yes.toLowerCase() : text.filters.no.toLowerCase()
  return options.find((option) => option.value === String(value))?.label ?? textOf(value)
}
