import type { Import } from '../api/imports.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

type RowError = Import['errors'][number]

/** The first rows that failed. */
export function FirstErrors({ errors }: { errors: RowError[] }) {
  if (errors.length === 0) return null
  return (
    <DataTable
      label={text.result.errors.label}
      columns={COLUMNS}
      rows={errors}
      rowKey={({ row }) => String(row)}
      empty={text.result.errors.none}
    />
  )
}

const COLUMNS: Column<RowError>[] = [
  { id: 'row', header: text.result.errors.row, cell: ({ row }) => formatNumber(row) },
  { id: 'message', header: text.result.errors.message, cell: ({ message }) => <Foreign>{message}</Foreign> },
]
