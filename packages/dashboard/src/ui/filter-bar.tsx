import { Button, Drawer, Group, Pill, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks'
import { IconAdjustmentsHorizontal, IconSearch } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { type FilterField, FilterForm, type FilterValues, valueText } from './filter-form.tsx'

interface FilterBarProps {
  fields: FilterField[]
  values: FilterValues
  /** Only the names that change; undefined takes a filter away. */
  onChange: (values: FilterValues) => void
  /** The words of the search field, where the list can be searched. */
  search?: { value: string | undefined; placeholder: string; onSearch: (words: string | undefined) => void }
  /** Saved views, columns, export … at the right. */
  children?: ReactNode
}

/** Narrows a list: words to search for, filters in a drawer, and every filter in force as something to take away. */
export function FilterBar({ fields, values, onChange, search, children }: FilterBarProps) {
  const [isOpen, { open, close }] = useDisclosure()
  const button = useRef<HTMLButtonElement>(null)
  // What took a filter away goes with it; the focus stays nearby.
  const take = (names: string[]) => {
    button.current?.focus()
    onChange(Object.fromEntries(names.map((name) => [name, undefined])))
  }
  const active = fields.filter(({ name }) => values[name] !== undefined && values[name] !== '')
  return (
    <search aria-label="Filters">
      <Group gap="xs" mb={active.length > 0 ? 'xs' : 'md'}>
        {search ? <SearchField {...search} /> : null}
        <Button
          variant="default"
          leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
          ref={button}
          onClick={open}
          aria-haspopup="dialog"
        >
          Filters{active.length > 0 ? ` (${active.length})` : ''}
        </Button>
        <Group gap="xs" ml="auto">
          {children}
        </Group>
      </Group>
      {active.length > 0 ? (
        <Group gap={6} mb="md">
          {active.map((field) => (
            <Pill
              key={field.name}
              size="md"
              bg="var(--mantine-color-body)"
              bd="1px solid var(--cds-line)"
              withRemoveButton
              onRemove={() => take([field.name])}
              removeButtonProps={{
                'aria-label': `Remove the filter ${field.label}`,
                'aria-hidden': false,
                tabIndex: 0,
              }}
            >
              <Text span size="sm" c="dimmed">
                {field.label}{' '}
              </Text>
              <bdi>{valueText(field, values[field.name]).slice(0, 60)}</bdi>
            </Pill>
          ))}
          <Button variant="subtle" size="compact-sm" onClick={() => take(active.map(({ name }) => name))}>
            Clear
          </Button>
        </Group>
      ) : null}
      <Drawer opened={isOpen} onClose={close} position="right" title="Filters">
        <FilterForm
          fields={fields}
          values={values}
          onApply={(changed) => {
            onChange(changed)
            close()
          }}
        />
      </Drawer>
    </search>
  )
}

/** Searches while somebody types, when they pause. */
function SearchField({ value, placeholder, onSearch }: NonNullable<FilterBarProps['search']>) {
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
