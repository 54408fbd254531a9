import { IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { contactsQuery } from '../api/contacts.ts'
import { ColumnChoice } from '../ui/column-choice.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { FilterBar } from '../ui/filter-bar.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { CONTACT_COLUMNS, DEFAULT_COLUMNS } from './contact-columns.tsx'
import { CONTACT_FILTERS, type ContactSearch, contactSearch, toContactQuery } from './contact-search.ts'

const route = getRouteApi('/shell/contacts')

/** All contacts: searched, filtered, sorted and paged by the service. */
export function ContactsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = toContactQuery(search)
  const { data, error, isPlaceholderData, refetch } = useQuery(contactsQuery(query))
  // A change of what is listed begins at the first page.
  const change = (changes: Record<string, unknown>) =>
    navigate({ search: (before) => contactSearch({ ...before, page: undefined, ...changes }), replace: true })
  const chosen = search.columns ?? DEFAULT_COLUMNS
  const isFiltered = Object.keys(query).some((name) => !NOT_FILTERS.has(name))
  return (
    <>
      <PageHeader title="Contacts" />
      <FilterBar
        fields={CONTACT_FILTERS}
        values={search as Omit<ContactSearch, 'columns'>}
        onChange={change}
        search={{
          value: search.search,
          placeholder: 'Search name, e-mail, company, title',
          onSearch: (words) => change({ search: words }),
        }}
      >
        <ColumnChoice columns={CONTACT_COLUMNS} chosen={chosen} onChange={(columns) => change({ columns })} />
      </FilterBar>
      <DataTable
        label="Contacts"
        columns={CONTACT_COLUMNS.filter(({ id }) => chosen.includes(id))}
        rows={data?.contacts}
        rowKey={({ contact_id }) => contact_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          isFiltered ? (
            <EmptyState icon={IconUsers} title="No contact matches">
              Take a filter away, or search for something else.
            </EmptyState>
          ) : (
            <EmptyState icon={IconUsers} title="No contacts yet">
              They appear when a visitor identifies, a form is sent in, or your systems write them over the API.
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

const NOT_FILTERS = new Set(['page', 'limit', 'sort_by', 'sort_dir'])
