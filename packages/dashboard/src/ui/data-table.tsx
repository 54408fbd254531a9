import { Box, LoadingOverlay, Paper, Table } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './data-table.module.css'
import { moveBetweenRows } from './data-table-keys.ts'
import { Pager, type Paging } from './pager.tsx'
import { SortHeader, type Sorting } from './sort-header.tsx'
import { ErrorState, LoadingState } from './states.tsx'

export interface Column<Row> {
  id: string
  header: string
  cell: (row: Row) => ReactNode
  /** The service's name for sorting; without it, the column cannot be sorted. */
  sortBy?: string
  align?: 'left' | 'right'
  width?: number | string
  /** The minimum window width at which it is shown. */
  visibleFrom?: 'xs' | 'sm' | 'md' | 'lg'
}

interface DataTableProps<Row> {
  /** What the table lists ("Contacts"), for screen readers. */
  label: string
  columns: Column<Row>[]
  rows: Row[] | undefined
  rowKey: (row: Row) => string
  error?: unknown
  onRetry?: () => unknown
  /** Whether the previous page is still shown while the next one loads. */
  isUpdating?: boolean
  empty: ReactNode
  sorting?: Sorting
  paging?: Paging
}

/**
 * A list that the service returns in pages. The first cell of a row usually has its link; the up and down keys move
 * between rows.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, error, onRetry, isUpdating = false, empty, sorting, paging } = props
  if (error && !rows) return <ErrorState error={error} onRetry={onRetry} />
  return (
    <Paper className={classes.paper}>
      <Box pos="relative" aria-busy={isUpdating || !rows}>
        {rows === undefined ? <LoadingState lines={10} label={`Loading ${label.toLowerCase()}`} /> : null}
        {rows?.length === 0 ? empty : null}
        {rows && rows.length > 0 ? (
          // Wide tables scroll within their frame, by keyboard too.
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable
          <section className={classes.scroll} aria-label={label} tabIndex={0}>
            <Table className={classes.table} highlightOnHover>
              <Table.Thead>
                <Table.Tr>
                  {columns.map((column) => (
                    <SortHeader key={column.id} column={column} sorting={sorting} />
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody onKeyDown={moveBetweenRows}>
                {rows.map((row) => (
                  <Table.Tr key={rowKey(row)}>
                    {columns.map(({ id, cell, align, visibleFrom }) => (
                      <Table.Td key={id} ta={align} {...(visibleFrom ? { visibleFrom } : {})}>
                        {cell(row)}
                      </Table.Td>
                    ))}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </section>
        ) : null}
        <LoadingOverlay visible={isUpdating} overlayProps={{ backgroundOpacity: 0.4 }} loaderProps={{ size: 'sm' }} />
      </Box>
      {paging && rows && (paging.total > 0 || paging.page > 1) ? <Pager {...paging} label={label} /> : null}
    </Paper>
  )
}
