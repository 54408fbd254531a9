import { Table } from '@mantine/core'
import { memo } from 'react'
import classes from './data-table.module.css'
import type { Column } from './data-table-column.ts'
import { EditableCell } from './editable-cell.tsx'
import { text } from './text.ts'

interface DataRowProps {
  row: unknown
  columns: Column<unknown>[]
  position: number
  isFocusable: boolean
  hasStickyColumn: boolean
  /** undefined: rows cannot be selected. */
  isSelected: boolean | undefined
  onToggle: ((position: number, isRange: boolean) => void) | undefined
  nameOf: ((row: unknown) => string) | undefined
}

/** A row of a table. It renders again only if something of it changes: a page may have a hundred. */
export const DataRow = memo(function DataRow(props: DataRowProps) {
  const { row, columns, position, isFocusable, hasStickyColumn, isSelected, onToggle, nameOf } = props
  return (
    <Table.Tr
      {...(isFocusable ? { tabIndex: -1 } : {})}
      {...(isSelected === undefined ? {} : { 'data-selected': isSelected || undefined })}
    >
      {isSelected === undefined ? null : (
        <Table.Td className={classes.check}>
          <label>
            <input
              type="checkbox"
              aria-label={text.table.select(nameOf?.(row) ?? '')}
              checked={isSelected}
              onChange={({ nativeEvent }) =>
                onToggle?.(position, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
              }
            />
          </label>
        </Table.Td>
      )}
      {columns.map(({ id, header, cell, align, visibleFrom, edit }, index) => (
        <Table.Td
          key={id}
          ta={align}
          className={hasStickyColumn && index === 0 ? classes.sticky : edit ? classes.editable : undefined}
          data-align={align}
          {...(visibleFrom ? { visibleFrom } : {})}
        >
          {edit ? (
            <EditableCell header={header} row={row} edit={edit}>
              {cell(row)}
            </EditableCell>
          ) : (
            cell(row)
          )}
        </Table.Td>
      ))}
    </Table.Tr>
  )
})
