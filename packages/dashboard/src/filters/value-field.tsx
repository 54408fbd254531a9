import { Autocomplete, type ComboboxItem, MultiSelect, TagsInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { queryOf } from '../api/operation.ts'
import { eventLabel } from '../ui/event-words.ts'
import { failureOf, isRetry, RetryOption, retryOption } from '../ui/picker-failure.tsx'
import { text as common } from '../ui/text.ts'
import { upTo } from '../ui/up-to.ts'
import { allSegmentsQuery, segmentsOf } from './all-segments.ts'
import type { Filtered } from './fields.ts'
import { FilterContext } from './filter-context.tsx'
import { text } from './text.ts'

const LENGTH_MAX = 1_000
const SUGGESTION_LENGTH_MAX = 120

interface ValueTextProps {
  label: string
  /** The property, or the field of an event such as `event.type`. */
  property: string
  value: string
  onChange: (value: string) => void
  placeholder?: string
}

/** A value, with suggestions from existing contacts. */
export function ValueText({ label, property, value, onChange, placeholder }: ValueTextProps) {
  const suggestions = useSuggestions(property, value)
  return (
    <Autocomplete
      aria-label={label}
      placeholder={placeholder}
      value={value}
      onChange={onChange}
      data={suggestions}
      // The service has already filtered them.
      filter={({ options }) => options}
      {...upTo(LENGTH_MAX)}
      autoComplete="off"
    />
  )
}

interface ValueListProps {
  label: string
  property: string
  values: string[]
  onChange: (values: string[]) => void
}

/** Several values. */
export function ValueList({ label, property, values, onChange }: ValueListProps) {
  const [typed, setTyped] = useState('')
  const suggestions = useSuggestions(property, typed)
  return (
    <TagsInput
      aria-label={label}
      placeholder={text.builder.typeValue}
      value={values}
      onChange={onChange}
      searchValue={typed}
      onSearchChange={setTyped}
      data={suggestions}
      filter={({ options }) => options}
      splitChars={[';']}
      acceptValueOnBlur
      maxTags={500}
    />
  )
}

/** Several kinds of events, also such as were never recorded. */
export function EventNames({ label, values, onChange }: Omit<ValueListProps, 'property'>) {
  const types = useQuery(queryOf('listEventTypes'))
  const failure = failureOf(common.event.typesFailed, [types])
  return (
    <TagsInput
      aria-label={label}
      placeholder={text.builder.typeEvent}
      value={values}
      onChange={(names) => (names.some(isRetry) ? failure?.retry() : onChange(names))}
      data={[...(types.data?.types ?? []), ...retryOption(failure).map(({ value }) => value)]}
      filter={({ options, search }) =>
        (options as ComboboxItem[]).filter(({ value }) => isRetry(value) || isPartOf(value, search))
      }
      renderOption={({ option }) =>
        failure && isRetry(option.value) ? <RetryOption {...failure} /> : eventLabel(option.value)
      }
      acceptValueOnBlur
      maxTags={100}
    />
  )
}

/** Several segments, by their names. */
export function SegmentNames({ ids, onChange }: { ids: string[]; onChange: (ids: string[]) => void }) {
  const segments = useQuery(allSegmentsQuery)
  const { data } = segments
  const { filtered } = useContext(FilterContext)
  const failure = failureOf(text.failures.segments, [segments])
  const known = segmentsOf(data, filtered === 'companies' ? filtered : 'contacts').map(
    ({ segment_id: value, name }) => ({ value, label: name.slice(0, 100) }),
  )
  // Ids may be written in capitals, and what was deleted has no name.
  const chosen = [...new Set(ids.map((id) => (data?.has(id.toLowerCase()) ? id.toLowerCase() : id)))]
  const gone = chosen.filter((id) => !known.some(({ value }) => value === id))
  const unknown = gone.map((value) => ({ value, label: data ? text.sentence.deletedSegment : '…' }))
  return (
    <MultiSelect
      aria-label={text.builder.segments}
      placeholder={chosen.length === 0 ? text.builder.chooseSegments : ''}
      value={chosen}
      onChange={(changed) => (changed.some(isRetry) ? failure?.retry() : onChange(changed))}
      data={[...known, ...unknown, ...retryOption(failure)]}
      filter={({ options, search }) =>
        (options as ComboboxItem[]).filter(({ value, label }) => isRetry(value) || isPartOf(label, search))
      }
      {...(failure
        ? {
            renderOption: ({ option }) => (isRetry(option.value) ? <RetryOption {...failure} /> : option.label),
          }
        : {})}
      searchable
      limit={100}
      error={data && gone.length > 0 ? text.builder.segmentGone : undefined}
    />
  )
}

function isPartOf(name: string, search: string): boolean {
  return name.toLowerCase().includes(search.trim().toLowerCase())
}

/** The fields of events of which the service suggests values, by their names in conditions. */
const SUGGESTED_OF_EVENTS: Readonly<Record<string, string>> = {
  event: 'event.type',
  event_type: 'event.type',
  text: 'event.text',
  url_path: 'event.url_contains',
  class: 'event.class_contains',
  element_id: 'event.element_id',
}

/** The name under which the service suggests values; null if it does not. */
function suggestedName(property: string, filtered: Filtered): string | null {
  if (property.startsWith('event.')) return property
  if (filtered === 'companies' || /^(company|data)\./.test(property) || property === '') return null
  if (filtered === 'contacts') return property.replace(/^properties\./, '')
  if (property.startsWith('contact.')) return property.slice('contact.'.length)
  return SUGGESTED_OF_EVENTS[property] ?? null
}

/** Values that exist: those that the service finds for what is typed, or the most frequent ones. */
function useSuggestions(property: string, typed: string): string[] {
  const [debounced] = useDebouncedValue(typed, 200)
  const { filtered, fields } = useContext(FilterContext)
  const name = suggestedName(property, filtered)
  const { data } = useQuery({
    ...queryOf('suggestSegmentValues', { property: name ?? '', q: debounced.slice(0, 200) }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    enabled: name !== null,
  })
  const frequent = fields.find((field) => field.name === property)?.values ?? []
  const values =
    name === null
      ? frequent.map(String).filter((value) => isPartOf(value, typed))
      : (data?.values ?? []).map(({ value }) => String(value))
  return [...new Set(values.filter((each) => each.length <= SUGGESTION_LENGTH_MAX))]
}
