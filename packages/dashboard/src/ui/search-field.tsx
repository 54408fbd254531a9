import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'

export interface SearchFieldProps {
  value: string | undefined
  placeholder: string
  onSearch: (words: string | undefined) => void
}

/** Searches while somebody types, when they pause. */
export function SearchField({ value, placeholder, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(value ?? '')
  const sent = useRef(value)
  // The URL may change by itself: back, a saved view. What comes back from here must not undo what was typed meanwhile.
  useEffect(() => {
    if (value !== sent.current) setTyped(value ?? '')
    sent.current = value
  }, [value])
  const searchSoon = useDebouncedCallback((words: string) => {
    sent.current = words.trim() === '' ? undefined : words
    onSearch(sent.current)
  }, 250)
  return (
    <TextInput
      type="search"
      aria-label={placeholder}
      placeholder={placeholder}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        searchSoon(event.currentTarget.value)
      }}
      style={{ flex: '1 1 220px', maxWidth: 360 }}
    />
  )
}
