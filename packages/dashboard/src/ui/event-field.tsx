import { type ComboboxItem, Group, Select, type SelectProps, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf } from '../api/operation.ts'
import { eventLabel } from './event-words.ts'
import { failureOf, isRetry, RetryOption, retryOption } from './picker-failure.tsx'
import { text } from './text.ts'
import { upTo } from './up-to.ts'

interface EventFieldProps extends Omit<SelectProps, 'data' | 'value' | 'onChange'> {
  /** The event's name, empty for none. */
  value: string
  onChange: (event: string) => void
}

/** Chooses a kind of event by its label or name; a name that was never recorded can be typed. */
export function EventField({ value, onChange, ...props }: EventFieldProps) {
  const types = useQuery(queryOf('listEventTypes'))
  const failure = failureOf(text.event.typesFailed, [types])
  const [typed, setTyped] = useState('')
  const own = typed.trim()
  const recorded = [...new Set([...(value === '' ? [] : [value]), ...(types.data?.types ?? [])])]
  const isNew = own !== '' && !recorded.some((name) => [name, eventLabel(name)].includes(own))
  const names = isNew ? [...recorded, own] : recorded
  return (
    <Select
      placeholder={text.event.chooseEvent}
      {...props}
      {...upTo(200)}
      searchable
      nothingFoundMessage={text.event.noMatch}
      data={[...names.map((name) => ({ value: name, label: eventLabel(name) })), ...retryOption(failure)]}
      value={value === '' ? null : value}
      onChange={(name) => (isRetry(name) ? failure?.retry() : onChange(name ?? ''))}
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options, search }) => matching(options as ComboboxItem[], search, value)}
      limit={100}
      renderOption={({ option }) =>
        failure && isRetry(option.value) ? (
          <RetryOption {...failure} />
        ) : (
          <Group gap={8} wrap="nowrap" justify="space-between" flex={1} miw={0}>
            <Text span size="sm" truncate>
              {option.label}
            </Text>
            <Text span size="xs" c="dimmed" truncate>
              {isNew && option.value === own
                ? text.event.customName
                : option.value === option.label
                  ? ''
                  : option.value}
            </Text>
          </Group>
        )
      }
    />
  )
}

/** All options while the field shows its value; else those whose label or name has the typed words. */
function matching(options: ComboboxItem[], search: string, value: string): ComboboxItem[] {
  const typed = search.trim().toLowerCase()
  if (typed === '' || search === eventLabel(value)) return options
  return options.filter(({ label, value: name }) => isRetry(name) || `${label}\n${name}`.toLowerCase().includes(typed))
}
