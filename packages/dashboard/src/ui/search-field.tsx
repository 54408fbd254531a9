import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'

export interface SearchFieldProps {
  value: string | undefined
  placeholder: string
  onSearch: (words: string | undefined) => void
}

/** Searches when the person pauses typing. */
export function SearchField({ value, placeholder, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(value ?? '')
  const sent = useRef(value)
  // The URL may change from outside (back, a saved view). An echo of our own change must not undo later input.
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
