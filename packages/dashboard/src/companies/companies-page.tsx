import { IconBuilding } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type Company, companiesCsv, companiesQuery, createCompany, refreshCompanies } from '../api/companies.ts'
import type { SavedView } from '../api/types.ts'
import { BulkBar } from '../records/bulk-bar.tsx'
import { companyName, DEFAULT_COLUMNS } from '../records/company-columns.tsx'
import { filterText, parseFilter } from '../records/filter-param.ts'
import { RecordBar } from '../records/record-bar.tsx'
import { text as records } from '../records/text.ts'
import { useLayout } from '../records/use-layout.ts'
import { useMay } from '../session/may.ts'
import { given } from '../session/search-params.ts'
import { ColumnChoice } from '../ui/column-choice.tsx'
import { CreateDialog } from '../ui/create-dialog.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { ExportButton } from '../ui/export-button.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SavedViews } from '../ui/saved-views.tsx'
import { EmptyState } from '../ui/states.tsx'
import { useSelection } from '../ui/use-selection.ts'
import { type CompanySearch, companySearch, toCompanyQuery } from './company-search.ts'
import { text } from './text.ts'
import { useCompanyColumns } from './use-company-columns.ts'

const route = getRouteApi('/shell/companies')

/** All companies: searched, filtered, sorted and paged by the service. */
export function CompaniesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const queryClient = useQueryClient()
  const query = toCompanyQuery(search)
  const { data, error, isPlaceholderData, refetch } = useQuery(companiesQuery(query))
  // A change of the list goes back to the first page.
  const change = (changes: Record<string, unknown>, replace = false) =>
    navigate({ search: (before) => companySearch({ ...before, page: undefined, ...changes }), replace })
  const openView = (view: SavedView) => navigate({ search: companySearch({ ...view.query, columns: view.columns }) })
  const create = async (values: { name?: string; domain?: string }) => {
    const { company } = await createCompany(values)
    void refreshCompanies(queryClient)
    await navigate({ to: '/companies/$companyId', params: { companyId: company.company_id } })
  }
  const mayWrite = useMay('companies:write')
  const columns = useCompanyColumns()
  const unlink = () => navigate({ search: (before) => ({ ...before, columns: undefined }), replace: true })
  const { chosen, choose, reset, layout } = useLayout('companies', DEFAULT_COLUMNS, search.columns, unlink)
  // The same list as before, so that the rows need not be rendered again.
  const shown = useMemo(
    () => chosen.flatMap((id) => columns.find((column) => column.id === id) ?? []),
    [columns, chosen],
  )
  const filter = parseFilter(search.filter)
  const selection = useSelection(data?.companies.map(({ company_id }) => company_id) ?? [])
  const isFiltered = [search.search, search.filter].some((value) => value !== undefined)
  const total = data?.pagination.total_items ?? 0
  return (
    <>
      <PageHeader
        title={text.title}
        actions={mayWrite ? <CreateDialog title={text.list.create} fields={NEW_COMPANY} onCreate={create} /> : null}
      />
      <RecordBar
        entity="companies"
        filter={filter}
        onFilter={(changed) => change({ filter: changed.filter && filterText(changed.filter) })}
        search={{
          value: search.search,
          placeholder: text.list.search,
          onSearch: (words) => change({ search: words }, search.search !== undefined),
        }}
      >
        <SavedViews page="companies" query={viewOf(search)} columns={chosen} onOpen={openView} />
        <ExportButton href={companiesCsv(query, chosen)} label={text.list.exported} />
        <ColumnChoice columns={columns} chosen={chosen} onChange={choose} onReset={reset} />
      </RecordBar>
      <DataTable
        label={text.title}
        columns={shown}
        rows={data?.companies}
        rowKey={keyOf}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        opensRows
        layout={layout}
        selection={{ ...selection, nameOf: companyName }}
        empty={
          isFiltered ? (
            <EmptyState icon={IconBuilding} title={text.list.noMatch}>
              {text.list.noMatchHint}
            </EmptyState>
          ) : (
            <EmptyState icon={IconBuilding} title={text.list.none}>
              {text.list.noneHint}
            </EmptyState>
          )
        }
        sorting={{
          by: search.sort_by ?? 'createdate',
          direction: search.sort_dir ?? 'desc',
          onSort: (sort_by, sort_dir) => change({ sort_by, sort_dir }),
        }}
        paging={{
          page: search.page ?? 1,
          limit: Number(search.limit ?? '20'),
          total,
          onPage: (page) => change({ page }),
          onLimit: (limit) => change({ limit: String(limit) }),
        }}
      >
        <BulkBar
          entity="companies"
          selection={selection}
          shown={data?.companies.length ?? 0}
          total={total}
          matching={given({ search: search.search, filter }) as object}
          mayWrite={mayWrite}
          csvOf={(ids) => companiesCsv(ids ? { company_ids: ids.join(',') } : query, chosen)}
          onChanged={() => {
            selection.clear()
            void refreshCompanies(queryClient)
          }}
        />
      </DataTable>
    </>
  )
}

const keyOf = ({ company_id }: Company) => company_id

const NEW_COMPANY = [
  { name: 'name', label: records.companyColumns.name, required: true },
  { name: 'domain', label: records.companyColumns.domain },
]

/** The part of the URL that a saved view stores. */
function viewOf({ page: _page, columns: _columns, ...query }: CompanySearch) {
  return given(query)
}
