import { IconUsers } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { contactsCsv, contactsQuery, createContact, refreshContacts } from '../api/contacts.ts'
import { eventTypesQuery } from '../api/events.ts'
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
import { DEFAULT_COLUMNS } from './contact-columns.tsx'
import { CONTACT_FILTERS, type ContactSearch, contactSearch, toContactQuery } from './contact-search.ts'
import { useContactColumns } from './use-contact-columns.ts'

const route = getRouteApi('/shell/contacts')

/** All contacts: searched, filtered, sorted and paged by the service. */
export function ContactsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const queryClient = useQueryClient()
  const query = toContactQuery(search)
  const { data, error, isPlaceholderData, refetch } = useQuery(contactsQuery(query))
  // A change of the list goes back to the first page.
  const change = (changes: Record<string, unknown>, replace = false) =>
    navigate({ search: (before) => contactSearch({ ...before, page: undefined, ...changes }), replace })
  const openView = (view: SavedView) => navigate({ search: contactSearch({ ...view.query, columns: view.columns }) })
  const create = async ({ email = '', ...properties }: Record<string, string>) => {
    const { contact } = await createContact({ email, properties })
    void refreshContacts(queryClient)
    await navigate({ to: '/contacts/$contactId', params: { contactId: contact.contact_id } })
  }
  const mayWrite = useMay('contacts:write')
  const columns = useContactColumns()
  const types = useQuery(eventTypesQuery)
  const filters = CONTACT_FILTERS.map((field) =>
    field.name === 'has_event_type' ? { ...field, suggestions: types.data?.types } : field,
  )
  const chosen = search.columns ?? DEFAULT_COLUMNS
  const isFiltered = Object.keys(query).some((name) => !NOT_FILTERS.has(name))
  return (
    <>
      <PageHeader
        title="Contacts"
        actions={mayWrite ? <CreateDialog title="New contact" fields={NEW_CONTACT} onCreate={create} /> : null}
      />
      <FilterBar
        fields={filters}
        values={search as Omit<ContactSearch, 'columns'>}
        onChange={change}
        search={{
          value: search.search,
          placeholder: 'Search name, e-mail, company, title',
          onSearch: (words) => change({ search: words }, search.search !== undefined),
        }}
      >
        <SavedViews page="contacts" query={viewOf(search)} columns={chosen} onOpen={openView} />
        <ExportButton
          href={contactsCsv(
            query,
            chosen.flatMap((id) => (id === 'name' ? NAMES : [id])),
          )}
          label="contacts"
        />
        <ColumnChoice columns={columns} chosen={chosen} onChange={(ids) => change({ columns: ids }, true)} />
      </FilterBar>
      <DataTable
        label="Contacts"
        columns={columns.filter(({ id }) => chosen.includes(id))}
        rows={data?.contacts}
        rowKey={({ contact_id }) => contact_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          isFiltered ? (
            <EmptyState icon={IconUsers} title="No contact matches">
              Remove a filter or search for something else.
            </EmptyState>
          ) : (
            <EmptyState icon={IconUsers} title="No contacts yet">
              Contacts appear when a visitor is identified, a form is submitted, or your systems send them to the API.
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

/** The columns of an exported file that replace the name. */
const NAMES = ['contact_id', 'firstname', 'lastname']

const NEW_CONTACT = [
  { name: 'email', label: 'E-mail', type: 'email' as const, required: true },
  { name: 'firstname', label: 'First name' },
  { name: 'lastname', label: 'Last name' },
  { name: 'company', label: 'Company' },
  { name: 'jobtitle', label: 'Job title' },
]

/** The part of the address that a saved view stores. */
function viewOf({ page: _page, columns: _columns, ...query }: ContactSearch) {
  return given(query)
}

const NOT_FILTERS = new Set(['page', 'limit', 'sort_by', 'sort_dir'])
