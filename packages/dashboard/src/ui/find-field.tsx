import { Button, Loader, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { ErrorState } from './states.tsx'
import { Foreign } from './text.tsx'

/** What is read for a `FindField` at once: somebody who does not see what they look for types more. */
export const FOUND_MAX = 6

interface Found<Item> {
  items: Item[] | undefined
  isFetching: boolean
  error: unknown
  refetch: () => unknown
}

interface FindFieldProps<Item> {
  label: string
  placeholder: string
  /** What is found ("Contacts"), for screen readers. */
  what: string
  /** A hook that asks the service, for the first `FOUND_MAX` of the matches. */
  useFound: (search: string) => Found<Item>
  /** Those that somebody sees before they have typed anything. */
  offersAll?: boolean
  keyOf: (item: Item) => string
  nameOf: (item: Item) => string
  /** Those that cannot be chosen (again). */
  isTaken?: (item: Item) => boolean
  onChoose: (item: Item) => void
  disabled?: boolean
  autoFocus?: boolean
}

/** Finds one of very many by some of its words, and lets somebody choose it. */
export function FindField<Item>(props: FindFieldProps<Item>) {
  const { label, placeholder, what, useFound, offersAll = false, keyOf, nameOf, isTaken, onChoose } = props
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), 250)
  const { items, isFetching, error, refetch } = useFound(search)
  const isAsked = search !== '' || offersAll
  const found = isAsked ? (items ?? []).filter((item) => !isTaken?.(item)) : []
  return (
    <Stack gap="xs">
      <TextInput
        label={label}
        placeholder={placeholder}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        // Enter would send the form that it stands in before anything is chosen.
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        rightSection={isFetching ? <Loader size="xs" role="status" aria-label="Searching" /> : null}
        autoFocus={props.autoFocus}
      />
      {error ? <ErrorState error={error} onRetry={refetch} /> : null}
      {found.length > 0 ? (
        <Stack component="ul" gap={4} m={0} p={0} style={{ listStyle: 'none' }} aria-label={`${what} found`}>
          {found.map((item) => (
            <li key={keyOf(item)}>
              <Button
                variant="default"
                size="xs"
                fullWidth
                justify="flex-start"
                disabled={props.disabled}
                onClick={() => onChoose(item)}
              >
                <Foreign max={80}>{nameOf(item)}</Foreign>
              </Button>
            </li>
          ))}
        </Stack>
      ) : null}
      {search !== '' && items?.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing is found.
        </Text>
      ) : null}
    </Stack>
  )
}
