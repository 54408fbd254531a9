import { Button, Loader, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { ErrorState } from './states.tsx'
import { text } from './text.ts'
import { Foreign } from './text.tsx'

/** The number of results of a `FindField`: a longer search narrows them. */
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
  /** What is searched ("Contacts"), for screen readers. */
  what: string
  /** A hook that fetches the first `FOUND_MAX` results. */
  useFound: (search: string) => Found<Item>
  /** Whether results are shown before anything is typed. */
  offersAll?: boolean
  keyOf: (item: Item) => string
  nameOf: (item: Item) => string
  /** Results that cannot be chosen, such as those already chosen. */
  isExcluded?: (item: Item) => boolean
  onChoose: (item: Item) => void
  disabled?: boolean
  autoFocus?: boolean
}

/** Searches a long list and lets people choose a result. */
export function FindField<Item>(props: FindFieldProps<Item>) {
  const { label, placeholder, what, useFound, offersAll = false, keyOf, nameOf, isExcluded, onChoose } = props
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), 250)
  const { items, isFetching, error, refetch } = useFound(search)
  const isAsked = search !== '' || offersAll
  const found = isAsked ? (items ?? []).filter((item) => !isExcluded?.(item)) : []
  return (
    <Stack gap="xs">
      <TextInput
        label={label}
        placeholder={placeholder}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        // Enter would submit the surrounding form.
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        rightSection={isFetching ? <Loader size="xs" role="status" aria-label={text.find.searching} /> : null}
        autoFocus={props.autoFocus}
      />
      {error ? <ErrorState error={error} onRetry={refetch} /> : null}
      {found.length > 0 ? (
        <Stack component="ul" gap={4} m={0} p={0} style={{ listStyle: 'none' }} aria-label={text.find.found(what)}>
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
          {text.find.nothing}
        </Text>
      ) : null}
    </Stack>
  )
}
