import { Autocomplete, TagsInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { queryOf } from '../api/operation.ts'
import { upTo } from '../ui/up-to.ts'
import { FilteredEntity } from './filtered-entity.ts'
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

function useSuggestions(property: string, typed: string): string[] {
  const [debounced] = useDebouncedValue(typed, 200)
  const enabled = useContext(FilteredEntity) === 'contacts' && property !== ''
  const { data } = useQuery({
    ...queryOf('suggestSegmentValues', { property, q: debounced.slice(0, 200) }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    enabled,
  })
  const values = (data?.values ?? [])
    .map(({ value }) => String(value))
    .filter((each) => each.length <= SUGGESTION_LENGTH_MAX)
  return [...new Set(values)]
}
