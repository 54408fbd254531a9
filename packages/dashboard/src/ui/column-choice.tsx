import { ActionIcon, Button, Checkbox, Group, Popover, Stack, Text, TextInput } from '@mantine/core'
import { IconColumns3, IconGripVertical } from '@tabler/icons-react'
import { type DragEvent, type KeyboardEvent, useState } from 'react'
import classes from './column-choice.module.css'
import { moved } from './data-table-column.ts'
import { text } from './text.ts'
import { ToolbarButton } from './toolbar-button.tsx'

interface ChoiceColumn {
  id: string
  header: string
}

interface ColumnChoiceProps {
  columns: readonly ChoiceColumn[]
  /** Ids of the columns that are shown, in their order. */
  chosen: readonly string[]
  onChange: (ids: string[]) => void
  /** Shows the default columns again. */
  onReset?: (() => void) | undefined
}

const FIND_FROM = 12

/** Chooses the visible columns of a table, and their order: dragged, or moved with the arrow keys. */
export function ColumnChoice({ columns, chosen, onChange, onReset }: ColumnChoiceProps) {
  const [search, setSearch] = useState('')
  const byId = new Map(columns.map((column) => [column.id, column]))
  const shown = chosen.flatMap((id) => byId.get(id) ?? [])
  const isFound = ({ header }: ChoiceColumn) => header.toLowerCase().includes(search.trim().toLowerCase())
  const hidden = columns.filter((column) => !chosen.includes(column.id) && isFound(column))
  const ids = shown.map(({ id }) => id)
  return (
    <Popover position="bottom-end" trapFocus returnFocus width={300} onClose={() => setSearch('')}>
      <Popover.Target>
        <ToolbarButton icon={<IconColumns3 size={16} aria-hidden />}>{text.columns.title}</ToolbarButton>
      </Popover.Target>
      <Popover.Dropdown mah={460} style={{ overflowY: 'auto' }}>
        <Stack gap="xs" role="group" aria-label={text.columns.title}>
          {columns.length >= FIND_FROM ? (
            <TextInput
              size="xs"
              type="search"
              aria-label={text.columns.find}
              placeholder={text.columns.find}
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
            />
          ) : null}
          <Text size="xs" c="dimmed">
            {text.columns.shown}
          </Text>
          <ul className={classes.list}>
            {shown.filter(isFound).map((column) => (
              <ShownColumn
                key={column.id}
                column={column}
                // At least one column stays visible.
                canHide={ids.length > 1}
                onHide={() => onChange(ids.filter((id) => id !== column.id))}
                onMove={(id, to) => onChange(moved(ids, id, to))}
                neighbors={[ids[ids.indexOf(column.id) - 1], ids[ids.indexOf(column.id) + 1]]}
              />
            ))}
          </ul>
          {hidden.length > 0 ? (
            <Text size="xs" c="dimmed">
              {text.columns.hidden}
            </Text>
          ) : null}
          {hidden.map(({ id, header }) => (
            <Checkbox key={id} label={header} checked={false} onChange={() => onChange([...ids, id])} ml={28} />
          ))}
          {onReset ? (
            <Button variant="subtle" size="compact-sm" onClick={onReset}>
              {text.columns.reset}
            </Button>
          ) : null}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

interface ShownColumnProps {
  column: ChoiceColumn
  canHide: boolean
  onHide: () => void
  onMove: (id: string, to: string) => void
  /** The columns before and after it. */
  neighbors: [string | undefined, string | undefined]
}

const DRAGGED = 'application/x-column'

function ShownColumn({ column: { id, header }, canHide, onHide, onMove, neighbors }: ShownColumnProps) {
  const [isTarget, setTarget] = useState(false)
  const press = (event: KeyboardEvent) => {
    const to = event.key === 'ArrowUp' ? neighbors[0] : event.key === 'ArrowDown' ? neighbors[1] : undefined
    if (to === undefined) return
    event.preventDefault()
    onMove(id, to)
  }
  return (
    <li
      className={classes.item}
      data-target={isTarget || undefined}
      draggable
      onDragStart={(event: DragEvent) => event.dataTransfer.setData(DRAGGED, id)}
      onDragOver={(event: DragEvent) => {
        if (!event.dataTransfer.types.includes(DRAGGED)) return
        event.preventDefault()
        setTarget(true)
      }}
      onDragLeave={() => setTarget(false)}
      onDrop={(event: DragEvent) => {
        event.preventDefault()
        setTarget(false)
        onMove(event.dataTransfer.getData(DRAGGED), id)
      }}
    >
      <Group gap={4} wrap="nowrap">
        <ActionIcon
          variant="subtle"
          color="gray"
          size={24}
          className={classes.grip}
          aria-label={text.columns.move(header)}
          onKeyDown={press}
        >
          <IconGripVertical size={14} aria-hidden />
        </ActionIcon>
        <Checkbox label={header} checked disabled={!canHide} onChange={onHide} />
      </Group>
    </li>
  )
}
