import { type ComboboxItem, type ComboboxItemGroup, type ComboboxParsedItem, Group, Select, Text } from '@mantine/core'
import { useContext, useState } from 'react'
import { isRetry, RetryOption, retryOption } from '../ui/picker-failure.tsx'
import { upTo } from '../ui/up-to.ts'
import type { Field } from './fields.ts'
import { FilterContext } from './filter-context.tsx'
import { text } from './text.ts'
import { eventPropertyLabel, recordPropertyLabel } from './words.ts'

const words = text.builder
const SHOWN_MAX = 100
/** The service's limit on the name of a property. */
const NAME_LENGTH_MAX = 128

interface PropertyFieldProps {
  label: string
  value: string
  onChange: (property: string) => void
  autoFocus?: boolean
}

/**
 * Chooses what a condition compares by its label or name. A value in the data of events can be typed, too, and any name
 * while the list cannot be read.
 */
export function PropertyField({ label, value, onChange, autoFocus = false }: PropertyFieldProps) {
  const { fields, isOfEvents, failure } = useContext(FilterContext)
  const [typed, setTyped] = useState('')
  const isKnown = fields.some(({ name }) => name === value)
  // A filter may name a property that nothing has.
  const unknown: Field[] =
    value === '' || isKnown ? [] : [{ name: value, label: labelOf(value, isOfEvents), type: 'text' }]
  const own = isOfEvents ? pathOf(typed) : failure ? typed.trim() : ''
  const isTypedKnown = [...fields, ...unknown].some(({ name, label }) =>
    [own, typed.trim()].some((each) => each === name || each === label),
  )
  const typedOnes: Field[] =
    own === '' || isTypedKnown
      ? []
      : [{ name: own, label: typed.trim(), type: 'text', ...(isOfEvents ? { group: text.groups.data } : {}) }]
  const shown = [...unknown, ...fields].find(({ name }) => name === value)?.label
  return (
    <Select
      aria-label={label}
      placeholder={words.chooseProperty}
      {...upTo(NAME_LENGTH_MAX)}
      searchable
      autoFocus={autoFocus}
      nothingFoundMessage={words.noProperty}
      data={[...grouped([...unknown, ...fields, ...typedOnes]), ...retryOption(failure)]}
      value={value === '' ? null : value}
      onChange={(name) => (isRetry(name) ? failure?.retry() : onChange(name ?? ''))}
      allowDeselect={false}
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options, search }) => (search === shown ? options : matching(options, search))}
      selectFirstOptionOnChange
      limit={failure ? Number.POSITIVE_INFINITY : SHOWN_MAX}
      comboboxProps={{ width: 280, position: 'bottom-start' }}
      renderOption={({ option }) =>
        failure && isRetry(option.value) ? (
          <RetryOption {...failure} />
        ) : (
          <Group gap={8} wrap="nowrap" justify="space-between" flex={1} miw={0}>
            <Text span size="sm" truncate>
              {option.label}
            </Text>
            <Text span size="xs" c="dimmed" truncate>
              {isOfEvents && typedOnes.some(({ name }) => name === option.value)
                ? words.inData
                : option.value.replace(/^.*\./s, '')}
            </Text>
          </Group>
        )
      }
    />
  )
}

function labelOf(property: string, isOfEvents: boolean): string {
  const names = { labels: new Map<string, string>() }
  return (isOfEvents ? eventPropertyLabel : recordPropertyLabel)(property, names).slice(0, 100)
}

/** The path in an event's data that was typed, with or without `data.`; empty if it cannot be one. */
function pathOf(typed: string): string {
  const path = typed.trim().replace(/^data\./, '')
  return path === '' || path.split('.').includes('') ? '' : `data.${path}`
}

/** Those without a group come first. */
function grouped(fields: readonly Field[]): (ComboboxItem | ComboboxItemGroup<ComboboxItem>)[] {
  const groups = new Map<string, ComboboxItem[]>()
  for (const { name, label, group = '' } of fields) {
    groups.set(group, [...(groups.get(group) ?? []), { value: name, label }])
  }
  const { '': first = [], ...others } = Object.fromEntries(groups)
  return [...first, ...Object.entries(others).map(([group, items]) => ({ group, items }))]
}

/** The options whose label or name has the typed words. */
function matching(options: ComboboxParsedItem[], search: string): ComboboxParsedItem[] {
  const typed = search.trim().toLowerCase()
  return options.flatMap((option): ComboboxParsedItem[] => {
    if ('group' in option) {
      const items = matching(option.items, search) as ComboboxItem[]
      return items.length > 0 ? [{ group: option.group, items }] : []
    }
    if (isRetry(option.value)) return [option]
    return `${option.label}\n${option.value}`.toLowerCase().includes(typed) ? [option] : []
  })
}
