import { Checkbox, Popover, Stack } from '@mantine/core'
import { IconColumns3 } from '@tabler/icons-react'
import { ToolbarButton } from './toolbar-button.tsx'

interface ColumnChoiceProps {
  columns: readonly { id: string; header: string }[]
  /** Ids of the columns that are shown. */
  chosen: readonly string[]
  onChange: (ids: string[]) => void
}

/** Chooses the visible columns of a table; their order is fixed. */
export function ColumnChoice({ columns, chosen, onChange }: ColumnChoiceProps) {
  return (
    <Popover position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <ToolbarButton icon={<IconColumns3 size={16} aria-hidden />}>Columns</ToolbarButton>
      </Popover.Target>
      <Popover.Dropdown mah={420} style={{ overflowY: 'auto' }}>
        <Stack gap="xs" role="group" aria-label="Columns">
          {columns.map(({ id, header }) => (
            <Checkbox
              key={id}
              label={header}
              checked={chosen.includes(id)}
              // At least one column stays visible.
              disabled={chosen.length === 1 && chosen.includes(id)}
              onChange={({ currentTarget: { checked } }) =>
                onChange(
                  columns
                    .map((column) => column.id)
                    .filter((other) => (other === id ? checked : chosen.includes(other))),
                )
              }
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
