import { Table, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import classes from './data-table.module.css'

export interface Sorting {
  by: string
  direction: 'asc' | 'desc'
  onSort: (by: string, direction: 'asc' | 'desc') => void
}

interface SortHeaderProps {
  column: {
    header: string
    sortBy?: string
    align?: 'left' | 'right'
    width?: number | string
    visibleFrom?: 'xs' | 'sm' | 'md' | 'lg'
  }
  sorting: Sorting | undefined
}

/** The header of a column: a button if the column can be sorted. */
export function SortHeader({ column, sorting }: SortHeaderProps) {
  const { header, sortBy, align, width, visibleFrom } = column
  const isSorted = sorting !== undefined && sortBy !== undefined && sorting.by === sortBy
  const direction = isSorted ? sorting.direction : undefined
  const Icon = direction === 'asc' ? IconArrowUp : direction === 'desc' ? IconArrowDown : IconArrowsSort
  return (
    <Table.Th
      scope="col"
      ta={align}
      w={width}
      aria-sort={direction === 'asc' ? 'ascending' : direction === 'desc' ? 'descending' : undefined}
      {...(visibleFrom ? { visibleFrom } : {})}
    >
      {sorting && sortBy !== undefined ? (
        <UnstyledButton
          className={classes.sort}
          onClick={() => sorting.onSort(sortBy, direction === 'asc' ? 'desc' : direction === 'desc' ? 'asc' : 'asc')}
        >
          {header}
          <Icon size={13} aria-hidden opacity={isSorted ? 1 : 0.45} />
        </UnstyledButton>
      ) : (
        header
      )}
    </Table.Th>
  )
}
