import { Box, LoadingOverlay, Paper, Table } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import classes from './data-table.module.css'
import { type Column, type ColumnLayout, widthOf } from './data-table-column.ts'
import { moveBetweenCells, openClickedRow, shortcutsOf, useTableKeys } from './data-table-keys.ts'
import { DataRow } from './data-table-row.tsx'
import { Pager, type Paging } from './pager.tsx'
import { useShortcuts } from './shortcuts.ts'
import { SortHeader, type Sorting } from './sort-header.tsx'
import { ErrorState, LoadingState } from './states.tsx'
import { text } from './text.ts'
import type { Selection } from './use-selection.ts'

export type { Column } from './data-table-column.ts'

export interface DataTableProps<Row> {
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
  /** Whether a click on a row opens its first link, and the shortcuts work. */
  opensRows?: boolean
  /** Given if rows can be selected, with the name of a row for screen readers. Keep `nameOf` the same function. */
  selection?: Selection & { nameOf: (row: Row) => string }
  /** Given if the person can move columns and change their widths. The first column then stays in view. */
  layout?: ColumnLayout
  /** What can be done with the selected rows. */
  children?: ReactNode
}

/**
 * A list that the service returns in pages. The first cell of a row usually has its link; the up and down keys move
 * between rows.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, error, onRetry, isUpdating = false, empty, sorting, paging } = props
  const { opensRows = false, selection, layout, children } = props
  const body = useRef<HTMLTableSectionElement>(null)
  useTableKeys({ body, opensRows, onSelect: selection?.toggle })
  useShortcuts(label, opensRows ? shortcutsOf(selection !== undefined) : undefined)
  if (error && !rows) return <ErrorState error={error} onRetry={onRetry} />
  const total = layout ? columns.reduce((sum, column) => sum + widthOf(column, layout), 0) : 0
  const opening = opensRows ? { onClick: openClickedRow, onAuxClick: openClickedRow } : {}
  return (
    <div>
      <Paper className={classes.paper}>
        <Box pos="relative" aria-busy={isUpdating || !rows}>
          {rows === undefined ? <LoadingState lines={10} label={text.table.loading(label)} /> : null}
          {rows?.length === 0 ? empty : null}
          {rows && rows.length > 0 ? (
            // Wide tables scroll within their frame, by keyboard too.
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable
            <section className={classes.scroll} aria-label={label} tabIndex={0}>
              <Table
                className={classes.table}
                highlightOnHover={!layout}
                data-layout={layout !== undefined || undefined}
                data-selectable={selection !== undefined || undefined}
                data-opens={opensRows || undefined}
                {...(layout ? { w: total + (selection ? CHECKBOX_WIDTH : 0) } : {})}
              >
                {layout ? (
                  <colgroup>
                    {selection ? <col width={CHECKBOX_WIDTH} className={classes.check} /> : null}
                    {columns.map((column) => (
                      <col key={column.id} width={widthOf(column, layout)} className={classes.column} />
                    ))}
                  </colgroup>
                ) : null}
                <Table.Thead>
                  <Table.Tr>
                    {selection ? <SelectAll selection={selection} count={rows.length} /> : null}
                    {columns.map((column, index) => (
                      <SortHeader
                        key={column.id}
                        column={column}
                        sorting={sorting}
                        layout={layout}
                        className={layout && index === 0 ? classes.sticky : undefined}
                      />
                    ))}
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody ref={body} onKeyDown={moveBetweenCells} {...opening}>
                  {rows.map((row, position) => {
                    const key = rowKey(row)
                    return (
                      <DataRow
                        key={key}
                        row={row}
                        columns={columns as Column<unknown>[]}
                        position={position}
                        isFocusable={opensRows}
                        hasStickyColumn={layout !== undefined}
                        isSelected={selection?.ids.has(key)}
                        onToggle={selection?.toggle}
                        nameOf={selection?.nameOf as ((row: unknown) => string) | undefined}
                      />
                    )
                  })}
                </Table.Tbody>
              </Table>
            </section>
          ) : null}
          <LoadingOverlay visible={isUpdating} overlayProps={{ backgroundOpacity: 0.4 }} loaderProps={{ size: 'sm' }} />
        </Box>
        {paging && rows && (paging.total > 0 || paging.page > 1) ? <Pager {...paging} label={label} /> : null}
      </Paper>
      {selection && selection.ids.size > 0 ? (
        // Below the rows, so that they do not move under the pointer.
        <section className={classes.bar} aria-label={text.table.selection}>
          {children}
        </section>
      ) : null}
    </div>
  )
}

const CHECKBOX_WIDTH = 40

function SelectAll({ selection, count }: { selection: Selection; count: number }) {
  const isAll = selection.ids.size === count
  return (
    <Table.Th className={classes.check}>
      <label>
        <input
          type="checkbox"
          aria-label={text.table.selectAll}
          checked={isAll}
          ref={(input) => {
            if (input) input.indeterminate = !isAll && selection.ids.size > 0
          }}
          onChange={selection.toggleAll}
        />
      </label>
    </Table.Th>
  )
}
