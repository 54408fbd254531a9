import { IconFileImport, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ListedImport } from '../api/types.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { IMPORTS_LENGTH, importsQuery } from './import-queries.ts'
import { ImportState } from './import-state.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/imports')

/** All imports of uploaded files. */
export function ImportsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, isPlaceholderData, refetch } = useQuery(importsQuery(page))
  const create = (
    <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to="/imports/new">
      {text.list.create}
    </ButtonLink>
  )
  const breadcrumb = (
    <AnchorLink inherit to="/contacts">
      {text.contacts}
    </AnchorLink>
  )
  return (
    <>
      <PageHeader
        title={text.list.title}
        description={text.list.description}
        breadcrumb={breadcrumb}
        actions={create}
      />
      <DataTable
        label={text.list.title}
        columns={COLUMNS}
        rows={data?.imports}
        rowKey={({ import_id }) => import_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconFileImport} title={text.list.empty.title} action={create}>
            {text.list.empty.explanation}
          </EmptyState>
        }
        paging={{
          page,
          limit: IMPORTS_LENGTH,
          total: data?.pagination.total_items ?? 0,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </>
  )
}

const COLUMNS: Column<ListedImport>[] = [
  {
    id: 'file',
    header: text.list.columns.file,
    cell: ({ import_id: importId, file_name }) => (
      <AnchorLink fw={550} inherit to="/imports/$importId" params={{ importId }}>
        <Foreign max={80}>{file_name}</Foreign>
      </AnchorLink>
    ),
  },
  { id: 'state', header: text.list.columns.state, cell: ({ state }) => <ImportState state={state} /> },
  {
    id: 'rows',
    header: text.list.columns.rows,
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ row_count }) => (row_count === null ? <None /> : formatNumber(row_count)),
  },
  countColumn('created'),
  countColumn('updated'),
  countColumn('failed'),
  {
    id: 'uploaded',
    header: text.list.columns.uploaded,
    visibleFrom: 'sm',
    cell: ({ created_at }) => <Moment at={created_at} c="dimmed" />,
  },
]

function countColumn(name: 'created' | 'updated' | 'failed'): Column<ListedImport> {
  return {
    id: name,
    header: text.list.columns[name],
    align: 'right',
    visibleFrom: 'md',
    cell: ({ counts, started_at }) => (started_at === null ? <None /> : formatNumber(counts[name])),
  }
}
