import { IconBuilding } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { companiesCsv, companiesQuery, createCompany, refreshCompanies } from '../api/companies.ts'
import type { SavedView } from '../api/views.ts'
import { useMay } from '../app/may.ts'
import { given } from '../app/search-params.ts'
import { ColumnChoice } from '../ui/column-choice.tsx'
import { CreateDialog } from '../ui/create-dialog.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { ExportButton } from '../ui/export-button.tsx'
import { FilterBar } from '../ui/filter-bar.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SavedViews } from '../ui/saved-views.tsx'
import { EmptyState } from '../ui/states.tsx'
import { DEFAULT_COLUMNS } from './company-columns.tsx'
import { COMPANY_FILTERS, type CompanySearch, companySearch, toCompanyQuery } from './company-search.ts'
import { useCompanyColumns } from './use-company-columns.ts'

const route = getRouteApi('/shell/companies')

/** All companies: searched, filtered, sorted and paged by the service. */
export function CompaniesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const queryClient = useQueryClient()
  const query = toCompanyQuery(search)
  const { data, error, isPlaceholderData, refetch } = useQuery(companiesQuery(query))
  const mayWrite = useMay('companies:write')
  const change = (changes: Record<string, unknown>, replace = false) =>
    navigate({ search: (before) => companySearch({ ...before, page: undefined, ...changes }), replace })
  const openView = (view: SavedView) => navigate({ search: companySearch({ ...view.query, columns: view.columns }) })
  const create = async (values: { name?: string; domain?: string }) => {
    const { company } = await createCompany(values)
    void refreshCompanies(queryClient)
    await navigate({ to: '/companies/$companyId', params: { companyId: company.company_id } })
  }
  const columns = useCompanyColumns()
  const chosen = search.columns ?? DEFAULT_COLUMNS
  const isFiltered = Object.keys(query).some((name) => !NOT_FILTERS.has(name))
  return (
    <>
      <PageHeader
        title="Companies"
        actions={mayWrite ? <CreateDialog title="New company" fields={NEW_COMPANY} onCreate={create} /> : null}
      />
      <FilterBar
        fields={COMPANY_FILTERS}
        values={search as Omit<CompanySearch, 'columns'>}
        onChange={change}
        search={{
          value: search.search,
          placeholder: 'Search name or domain',
          onSearch: (words) => change({ search: words }, search.search !== undefined),
        }}
      >
        <SavedViews page="companies" query={viewOf(search)} columns={chosen} onOpen={openView} />
        <ExportButton href={companiesCsv(query, chosen)} label="companies" />
        <ColumnChoice columns={columns} chosen={chosen} onChange={(ids) => change({ columns: ids }, true)} />
      </FilterBar>
      <DataTable
        label="Companies"
        columns={columns.filter(({ id }) => chosen.includes(id))}
        rows={data?.companies}
        rowKey={({ company_id }) => company_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          isFiltered ? (
            <EmptyState icon={IconBuilding} title="No company matches">
              Remove a filter or search for something else.
            </EmptyState>
          ) : (
            <EmptyState icon={IconBuilding} title="No companies yet">
              Companies come from forms, imports and the API.
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
          total: data?.pagination.total_items ?? 0,
          onPage: (page) => change({ page }),
          onLimit: (limit) => change({ limit: String(limit) }),
        }}
      />
    </>
  )
}

const NEW_COMPANY = [
  { name: 'name', label: 'Name', required: true },
  { name: 'domain', label: 'Domain' },
]

/** The part of the address that a saved view stores. */
function viewOf({ page: _page, columns: _columns, ...query }: CompanySearch) {
  return given(query)
}

const NOT_FILTERS = new Set(['page', 'limit', 'sort_by', 'sort_dir'])
