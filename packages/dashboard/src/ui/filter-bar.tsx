import { Button, Drawer, Group, Pill, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { type ReactNode, useRef } from 'react'
import { type FilterField, FilterForm, type FilterValues, valueText } from './filter-form.tsx'
import { SearchField, type SearchFieldProps } from './search-field.tsx'
import { text } from './text.ts'

interface FilterBarProps {
  fields: readonly FilterField[]
  values: FilterValues
  /** Only the names that change; undefined removes a filter. */
  onChange: (values: FilterValues) => void
  /** The search field, if the list can be searched. */
  search?: SearchFieldProps
  /** Saved views, columns, export … at the right. */
  children?: ReactNode
}

/** Search, filters in a drawer, and a removable badge for every active filter. */
export function FilterBar({ fields, values, onChange, search, children }: FilterBarProps) {
  const [isOpen, { open, close }] = useDisclosure()
  const button = useRef<HTMLButtonElement>(null)
  // The badge that removed a filter disappears with it; the focus stays nearby.
  const remove = (names: string[]) => {
    button.current?.focus()
    onChange(Object.fromEntries(names.map((name) => [name, undefined])))
  }
  const active = fields.filter(({ name }) => values[name] !== undefined && values[name] !== '')
  return (
    <search aria-label={text.filters.title}>
      <Group gap="xs" mb={active.length > 0 ? 'xs' : 'md'}>
        {search ? <SearchField {...search} /> : null}
        <Button
          variant="default"
          leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
          ref={button}
          onClick={open}
          aria-haspopup="dialog"
        >
          {text.filters.button(active.length)}
        </Button>
        <Group gap={6} ml="auto">
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
              onRemove={() => remove([field.name])}
              removeButtonProps={{
                'aria-label': text.filters.remove(field.label),
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
          <Button variant="subtle" size="compact-sm" onClick={() => remove(active.map(({ name }) => name))}>
            {text.filters.clear}
          </Button>
        </Group>
      ) : null}
      <Drawer opened={isOpen} onClose={close} position="right" title={text.filters.title}>
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
