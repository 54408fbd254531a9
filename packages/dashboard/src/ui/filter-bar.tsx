import { Button, Drawer, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { type ReactNode, useRef } from 'react'
import { type FilterField, FilterForm, type FilterValues, valueText } from './filter-form.tsx'
import { FilterPill } from './filter-pill.tsx'
import { SearchField, type SearchFieldProps } from './search-field.tsx'
import { text } from './text.ts'

/** Filters that a list has besides its fields. */
export interface MoreFilters {
  /** The active ones, each with what stays without it. */
  active: readonly { words: string; without: FilterValues }[]
  /** What stays without all of them. */
  none: FilterValues
  /** In the form, before the fields. */
  inputs: ReactNode
  /** When the form opens. */
  onOpen: () => void
  /** When all fields are cleared, in the form. */
  onClear: () => void
  /** What the form says. */
  changes: () => FilterValues
  /** After the badges. */
  action?: ReactNode
}

interface FilterBarProps {
  fields: readonly FilterField[]
  values: FilterValues
  /** Only the names that change; undefined removes a filter. */
  onChange: (values: FilterValues) => void
  /** The search field, if the list can be searched. */
  search?: SearchFieldProps
  more?: MoreFilters
  /** Saved views, columns, export … at the right. */
  children?: ReactNode
}

/** Search, filters in a drawer, and a removable badge for every active filter. */
export function FilterBar({ fields, values, onChange, search, more, children }: FilterBarProps) {
  const [isOpen, { open, close }] = useDisclosure()
  const button = useRef<HTMLButtonElement>(null)
  // The badge that removed a filter disappears with it; the focus stays nearby.
  const change = (changed: FilterValues) => {
    button.current?.focus()
    onChange(changed)
  }
  const without = (names: string[]) => Object.fromEntries(names.map((name) => [name, undefined]))
  const active = fields.filter(({ name }) => values[name] !== undefined && values[name] !== '')
  const count = active.length + (more?.active.length ?? 0)
  return (
    <search aria-label={text.filters.title}>
      <Group gap="xs" mb={count > 0 ? 'xs' : 'md'}>
        {search ? <SearchField {...search} /> : null}
        <Button
          variant="default"
          leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
          ref={button}
          onClick={() => {
            more?.onOpen()
            open()
          }}
          aria-haspopup="dialog"
        >
          {text.filters.button(count)}
        </Button>
        <Group gap={6} ml="auto">
          {children}
        </Group>
      </Group>
      {count > 0 ? (
        <Group gap={6} mb="md">
          {active.map((field) => (
            <FilterPill
              key={field.name}
              label={field.label}
              words={valueText(field, values[field.name]).slice(0, 60)}
              onRemove={() => change(without([field.name]))}
            />
          ))}
          {more?.active.map((each) => (
            <FilterPill key={each.words} words={each.words} onRemove={() => change(each.without)} />
          ))}
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => change({ ...without(active.map(({ name }) => name)), ...more?.none })}
          >
            {text.filters.clear}
          </Button>
          {more?.action}
        </Group>
      ) : null}
      <Drawer opened={isOpen} onClose={close} position="right" size={more ? 'lg' : 'md'} title={text.filters.title}>
        <FilterForm
          fields={fields}
          values={values}
          more={more?.inputs}
          onClear={more?.onClear}
          onApply={(changed) => {
            onChange({ ...changed, ...more?.changes() })
            close()
          }}
        />
      </Drawer>
    </search>
  )
}
