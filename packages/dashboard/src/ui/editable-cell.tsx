import { ActionIcon, NativeSelect, Popover, Text, TextInput } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import classes from './data-table.module.css'
import type { CellEdit } from './data-table-column.ts'
import { Problem } from './problem.tsx'
import { type PropertyValue, propertyText, typedValue } from './property-value.ts'
import { text } from './text.ts'

interface EditableCellProps {
  header: string
  row: unknown
  edit: CellEdit<unknown>
  children: ReactNode
}

type Save = ReturnType<CellEdit<unknown>['begin']>

/** A value that is edited in its cell: Enter or the pencil starts, Enter saves, Escape cancels. */
export function EditableCell({ header, row, edit, children }: EditableCellProps) {
  const [editing, setEditing] = useState<{ typed: string; save: Save | null } | null>(null)
  const [error, setError] = useState<unknown>(null)
  const button = useRef<HTMLButtonElement>(null)
  const value = edit.valueIn(row)
  const start = () => {
    setError(null)
    setEditing({ typed: propertyText(value), save: edit.begin(row) })
  }
  const stop = () => {
    setEditing(null)
    setError(null)
    // The button is rendered again in the next frame.
    requestAnimationFrame(() => button.current?.focus())
  }
  const commit = async (typed: string) => {
    if (!editing) return
    const changed = typedValue(typed, value)
    if (propertyText(changed) === propertyText(value) || (changed === null && edit.isRequired)) return stop()
    // The new value shows at once; the field comes back if it could not be saved.
    stop()
    try {
      await (editing.save ?? edit.begin(row))(changed)
    } catch (problem) {
      // Saving again starts from the value that the row has by then.
      setEditing({ typed: propertyText(changed), save: null })
      setError(problem)
    }
  }
  if (editing) {
    return (
      <CellField
        header={header}
        typed={editing.typed}
        choices={choicesOf(edit, value)}
        error={error}
        onType={(typed) => setEditing({ ...editing, typed })}
        onCommit={commit}
        onCancel={stop}
      />
    )
  }
  return (
    <>
      {children}
      <ActionIcon
        ref={button}
        className={classes.pencil}
        variant="default"
        size={24}
        tabIndex={-1}
        aria-label={text.table.edit(header, propertyText(value).slice(0, 80))}
        onClick={start}
      >
        <IconPencil size={14} aria-hidden />
      </ActionIcon>
    </>
  )
}

function choicesOf({ choices }: CellEdit<unknown>, value: PropertyValue | undefined) {
  if (typeof value === 'boolean') {
    return [
      { value: 'true', label: text.table.yes },
      { value: 'false', label: text.table.no },
    ]
  }
  return choices ? [...choices] : undefined
}

interface CellFieldProps {
  header: string
  typed: string
  choices: { value: string; label: string }[] | undefined
  error: unknown
  onType: (typed: string) => void
  onCommit: (typed: string) => unknown
  onCancel: () => void
}

function CellField({ header, typed, choices, error, onType, onCommit, onCancel }: CellFieldProps) {
  // A field that disappears loses focus, which must not save again.
  const isOver = useRef(false)
  const finish = (end: () => unknown) => {
    if (isOver.current) return
    isOver.current = true
    end()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    finish(event.key === 'Enter' ? () => onCommit(typed) : onCancel)
  }
  // What was typed is kept until it is saved or cancelled: an error needs a reaction.
  const onBlur = () => (error === null ? finish(() => onCommit(typed)) : undefined)
  const props = { 'aria-label': header, size: 'xs', autoFocus: true, value: typed, onKeyDown, onBlur } as const
  return (
    <Popover opened={error !== null} withRoles={false} position="bottom-start" withinPortal shadow="md" width={280}>
      <Popover.Target>
        <div className={classes.field}>
          {choices ? (
            <NativeSelect
              {...props}
              data={[{ value: '', label: text.table.noValue }, ...choices]}
              onChange={(event) => onType(event.currentTarget.value)}
            />
          ) : (
            <TextInput
              {...props}
              error={error !== null}
              onFocus={(event) => event.currentTarget.select()}
              onChange={(event) => onType(event.currentTarget.value)}
            />
          )}
        </div>
      </Popover.Target>
      <Popover.Dropdown>
        <Text size="xs" c="red" role="alert">
          {error === null ? null : <Problem error={error} />}
        </Text>
      </Popover.Dropdown>
    </Popover>
  )
}
