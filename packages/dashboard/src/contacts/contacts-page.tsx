import { IconUsers } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { type Contact, contactsCsv, contactsQuery, createContact, refreshContacts } from '../api/contacts.ts'
import { queryOf } from '../api/operation.ts'
import type { SavedView } from '../api/types.ts'
import { ImportLink } from '../imports/import-link.tsx'
import { BulkBar } from '../records/bulk-bar.tsx'
import { DEFAULT_COLUMNS, type ListedContact, PHONE_COLUMNS } from '../records/contact-columns.tsx'
import { contactName } from '../records/contact-name.ts'
import { filterText, parseFilter } from '../records/filter-param.ts'
import { RecordBar } from '../records/record-bar.tsx'
import { useLayout } from '../records/use-layout.ts'
import { useMay } from '../session/may.ts'
import { given } from '../session/search-params.ts'
import { ColumnChoice } from '../ui/column-choice.tsx'
import { CreateDialog } from '../ui/create-dialog.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { ExportButton } from '../ui/export-button.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { propertyLabel } from '../ui/property-value.ts'
import { SavedViews } from '../ui/saved-views.tsx'
import { EmptyState, ErrorState } from '../ui/states.tsx'
import { useSelection } from '../ui/use-selection.ts'
import { type ContactSearch, contactSearch, toContactQuery } from './contact-search.ts'
import { text } from './text.ts'
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
    // Going back must not open the form again.
    const replace = search.dialog === true
    await navigate({ to: '/contacts/$contactId', params: { contactId: contact.contact_id }, replace })
  }
  const mayWrite = useMay('contacts:write')
  const columns = useContactColumns()
  const unlink = () => navigate({ search: (before) => ({ ...before, columns: undefined }), replace: true })
  const { chosen, choose, reset, layout } = useLayout('contacts', DEFAULT_COLUMNS, search.columns, unlink)
  // The same list as before, so that the rows need not be rendered again.
  const shown = useMemo(
    () => chosen.flatMap((id) => columns.find((column) => column.id === id) ?? []),
    [columns, chosen],
  )
  const filter = parseFilter(search.filter)
  const { rows, figuresError, readFigures } = useEngagement(data?.contacts)
  // Decided once: other columns would lose what a person types into a cell while the window becomes narrow.
  const [isPhone] = useState(() => window.matchMedia('(max-width: 47.99em)').matches)
  const selection = useSelection(data?.contacts.map(({ contact_id }) => contact_id) ?? [])
  const isFiltered = [search.search, search.filter, search.segment_id, search.import_id].some(
    (value) => value !== undefined,
  )
  const total = data?.pagination.total_items ?? 0
  const inFile = chosen.flatMap((id) => (id === 'name' ? NAMES : [id]))
  return (
    <>
      <PageHeader
        title={text.title}
        actions={
          mayWrite ? (
            <>
              <ImportLink />
              <CreateDialog
                key={String(search.dialog)}
                title={text.list.create}
                fields={NEW_CONTACT}
                isOpenAtFirst={search.dialog === true}
                onCreate={create}
                onCancel={() => navigate({ search: (before) => ({ ...before, dialog: undefined }), replace: true })}
              />
            </>
          ) : null
        }
      />
      <RecordBar
        entity="contacts"
        filter={filter}
        segmentId={search.segment_id}
        importId={search.import_id}
        onFilter={(changed) =>
          change({
            filter: changed.filter && filterText(changed.filter),
            segment_id: changed.segmentId,
            import_id: changed.importId,
          })
        }
        search={{
          value: search.search,
          placeholder: text.list.search,
          onSearch: (words) => change({ search: words }, search.search !== undefined),
        }}
      >
        <SavedViews page="contacts" query={viewOf(search)} columns={chosen} onOpen={openView} />
        <ExportButton href={contactsCsv(query, inFile)} label={text.list.exported} />
        <ColumnChoice columns={columns} chosen={chosen} onChange={choose} onReset={reset} />
      </RecordBar>
      {figuresError ? <ErrorState error={figuresError} onRetry={readFigures} /> : null}
      <DataTable
        label={text.title}
        columns={isPhone ? PHONE_COLUMNS : shown}
        rows={rows}
        rowKey={keyOf}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        opensRows
        {...(isPhone ? {} : { layout })}
        selection={{ ...selection, nameOf: contactName }}
        empty={
          isFiltered ? (
            <EmptyState icon={IconUsers} title={text.list.noMatch}>
              {text.list.noMatchHint}
            </EmptyState>
          ) : (
            <EmptyState icon={IconUsers} title={text.list.none} action={mayWrite ? <ImportLink /> : null}>
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
          entity="contacts"
          selection={selection}
          shown={data?.contacts.length ?? 0}
          total={total}
          matching={
            given({
              search: search.search,
              segment_id: search.segment_id,
              import_id: search.import_id,
              filter,
            }) as object
          }
          mayWrite={mayWrite}
          csvOf={(ids) => contactsCsv(ids ? { contact_ids: ids.join(',') } : query, inFile)}
          onChanged={() => {
            selection.clear()
            void refreshContacts(queryClient)
          }}
        />
      </DataTable>
    </>
  )
}

/** Contacts with their figures, which arrive later. The same rows as before, so that they need not be rendered again. */
function useEngagement(contacts: Contact[] | undefined) {
  const contact_ids = contacts?.map(({ contact_id }) => contact_id) ?? []
  const { data, error, refetch } = useQuery({
    ...queryOf('batchEngagement', { contact_ids }),
    enabled: contact_ids.length > 0,
  })
  const rows = useMemo(
    (): ListedContact[] | undefined =>
      contacts?.map((contact) => ({ ...contact, engagement: data?.engagement[contact.contact_id] })),
    [contacts, data],
  )
  return { rows, figuresError: data ? null : error, readFigures: refetch }
}

const keyOf = ({ contact_id }: Contact) => contact_id

/** The columns of an exported file that replace the name. */
const NAMES = ['contact_id', 'firstname', 'lastname']

const NEW_CONTACT = [
  { name: 'email', label: propertyLabel('email'), type: 'email' as const, required: true },
  ...['firstname', 'lastname', 'company', 'jobtitle'].map((name) => ({ name, label: propertyLabel(name) })),
]

/** The part of the URL that a saved view stores. */
function viewOf({ page: _page, columns: _columns, dialog: _dialog, ...query }: ContactSearch) {
  return given(query)
}
