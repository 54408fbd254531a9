import { ActionIcon, Button, Group } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/** A list of rows of fields, each with a button that removes it, and a button that adds one. */
export function FieldRows<Row extends object>({
  rows,
  onChange,
  newRow,
  keyOf = (_, index) => index,
  addLabel,
  removeLabel,
  children,
}: {
  rows: Row[]
  onChange: (rows: Row[]) => void
  newRow: () => Row
  /** Rows without a key of their own are told apart by their place: all their fields are controlled. */
  keyOf?: (row: Row, index: number) => string | number
  addLabel: string
  /** The name of the button that removes a row; rows count from 1. */
  removeLabel: (number: number) => string
  /** The fields of a row. */
  children: (row: Row, number: number, change: (changes: Partial<Row>) => void) => ReactNode
}) {
  return (
    <>
      {rows.map((row, index) => (
        <Group key={keyOf(row, index)} gap="xs" align="flex-start" wrap="nowrap">
          {children(row, index + 1, (changes) =>
            onChange(rows.map((each, at) => (at === index ? { ...each, ...changes } : each))),
          )}
          <ActionIcon
            variant="subtle"
            color="gray"
            mt={4}
            aria-label={removeLabel(index + 1)}
            onClick={() => onChange(rows.filter((_, at) => at !== index))}
          >
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <div>
        <Button
          variant="light"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...rows, newRow()])}
        >
          {addLabel}
        </Button>
      </div>
    </>
  )
}
