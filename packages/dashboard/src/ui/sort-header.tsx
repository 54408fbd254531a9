import { Table, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import { type DragEvent, useState } from 'react'
import { ColumnResizer } from './column-resizer.tsx'
import classes from './data-table.module.css'
import { type Column, type ColumnLayout, widthOf } from './data-table-column.ts'

export interface Sorting {
  by: string
  direction: 'asc' | 'desc'
  onSort: (by: string, direction: 'asc' | 'desc') => void
}

interface SortHeaderProps {
  column: Omit<Column<never>, 'cell' | 'edit'>
  sorting: Sorting | undefined
  /** If the person may move columns and change their widths. */
  layout?: ColumnLayout | undefined
  className?: string | undefined
}

const DRAGGED = 'application/x-column'

/** The header of a column: a button if the column can be sorted; it can be dragged to the place of another column. */
export function SortHeader({ column, sorting, layout, className }: SortHeaderProps) {
  const { id, header, sortBy, align, visibleFrom } = column
  const [isTarget, setTarget] = useState(false)
  const isSorted = sorting !== undefined && sortBy !== undefined && sorting.by === sortBy
  const direction = isSorted ? sorting.direction : undefined
  const Icon = direction === 'asc' ? IconArrowUp : direction === 'desc' ? IconArrowDown : IconArrowsSort
  const drop = {
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes(DRAGGED)) return
      event.preventDefault()
      setTarget(true)
    },
    onDragLeave: () => setTarget(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      setTarget(false)
      layout?.onMove(event.dataTransfer.getData(DRAGGED), id)
    },
  }
  const drag = {
    draggable: true,
    onDragStart: (event: DragEvent) => {
      event.dataTransfer.setData(DRAGGED, id)
      event.dataTransfer.effectAllowed = 'move'
    },
  }
  return (
    <Table.Th
      scope="col"
      ta={align}
      aria-sort={direction === 'asc' ? 'ascending' : direction === 'desc' ? 'descending' : undefined}
      data-target={isTarget || undefined}
      className={className}
      {...(layout ? drop : {})}
      {...(visibleFrom ? { visibleFrom } : {})}
    >
      <span className={classes.heading} {...(layout ? drag : {})}>
        {sorting && sortBy !== undefined ? (
          <UnstyledButton
            className={classes.sort}
            onClick={() => sorting.onSort(sortBy, direction === 'asc' ? 'desc' : 'asc')}
          >
            {header}
            <Icon size={13} aria-hidden opacity={isSorted ? 1 : 0.45} />
          </UnstyledButton>
        ) : (
          header
        )}
      </span>
      {layout ? (
        <ColumnResizer header={header} width={widthOf(column, layout)} onWidth={(width) => layout.onWidth(id, width)} />
      ) : null}
    </Table.Th>
  )
}
