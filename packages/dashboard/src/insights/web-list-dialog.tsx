import { getDefaultZIndex, Modal, Stack, Text, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import type { Sorting } from '../ui/sort-header.tsx'
import { formatShare } from './axis.ts'
import { listQuery, ROWS_MAX } from './list-query.ts'
import { PeopleFigure } from './people-panel.tsx'
import { type Figure, formatOf } from './web-figures.ts'
import { type ListsProps, RowButton } from './web-list-card.tsx'
import { type ListName, rowName } from './web-lists.ts'
import type { WebRow } from './web-question.ts'
import { text } from './web-text.ts'

interface ListDialogProps extends Pick<ListsProps, 'question'> {
  onToggle: NonNullable<ListsProps['onToggle']>
  list: ListName
  onClose: () => void
}

/** A whole list with all figures, which can be searched and sorted. */
export function ListDialog({ list, question, onToggle, onClose }: ListDialogProps) {
  const { data, error, refetch } = useQuery(listQuery(question, list, ROWS_MAX))
  const [search, setSearch] = useState('')
  const [{ by, direction }, setSorted] = useState<Pick<Sorting, 'by' | 'direction'>>({
    by: 'people',
    direction: 'desc',
  })
  const { tab, one } = text.lists[list]
  const searched = search.trim().toLowerCase()
  const rows = data?.lists[list]
    ?.filter(({ value }) => rowName(list, value).toLowerCase().includes(searched))
    .toSorted((a, b) => (direction === 'asc' ? 1 : -1) * compared(list, by, a, b))
  const more = data?.more[list] ?? 0
  const toggle: typeof onToggle = (...row) => {
    onToggle(...row)
    onClose()
  }
  const columns: Column<WebRow>[] = [
    {
      id: 'value',
      header: one,
      sortBy: 'value',
      cell: ({ value }) => <RowButton list={list} value={value} question={question} onToggle={toggle} />,
    },
    {
      id: 'people',
      header: text.figures.people,
      sortBy: 'people',
      align: 'right',
      cell: ({ value, people }) => (
        <PeopleFigure name={text.rowOf(one, rowName(list, value))} at={{ list, value }} value={people}>
          {formatNumber(people)}
        </PeopleFigure>
      ),
    },
    {
      id: 'share',
      header: text.share,
      align: 'right',
      cell: ({ people }) => formatShare(data?.totals.people ? people / data.totals.people : null),
    },
    ...COLUMNS.filter((figure) => data?.lists[list]?.some((row) => row[figure] !== null)).map(
      (figure): Column<WebRow> => ({
        id: figure,
        header: text.figures[figure],
        sortBy: figure,
        align: 'right',
        cell: (row) => formatOf(figure)(row[figure]),
      }),
    ),
  ]
  return (
    // Below the panel with the people of a number.
    <Modal opened onClose={onClose} size="60rem" title={tab} zIndex={getDefaultZIndex('modal') - 1}>
      <Stack gap="sm">
        <TextInput
          type="search"
          data-autofocus
          aria-label={text.search(tab)}
          placeholder={text.search(tab)}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <DataTable
          label={text.allOf(tab)}
          columns={columns}
          rows={rows}
          rowKey={({ value }) => value ?? ''}
          error={error}
          onRetry={refetch}
          sorting={{ by, direction, onSort: (column, to) => setSorted({ by: column, direction: to }) }}
          empty={
            <Text size="sm" c="dimmed" p="md">
              {text.noMatch}
            </Text>
          }
        />
        {more > 0 ? (
          <Text size="sm" c="dimmed">
            {text.largest(ROWS_MAX, ROWS_MAX + more)}
          </Text>
        ) : null}
      </Stack>
    </Modal>
  )
}

/** The further figures that a list may have. */
const COLUMNS = ['visits', 'page_views', 'bounce_rate', 'visit_seconds'] as const satisfies readonly Figure[]

function compared(list: ListName, by: string, a: WebRow, b: WebRow): number {
  const figure = by === 'people' ? by : COLUMNS.find((each) => each === by)
  if (figure === undefined) return rowName(list, a.value).localeCompare(rowName(list, b.value))
  return (a[figure] ?? 0) - (b[figure] ?? 0)
}
