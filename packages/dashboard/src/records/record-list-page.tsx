import type { Icon } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { urlOf } from '../api/client.ts'
import { refreshAfter } from '../api/operation.ts'
import type { Entity, Pagination } from '../api/types.ts'
import { filterText, parseFilter } from '../filters/filter-text.ts'
import { useMay } from '../session/may.ts'
import { given } from '../session/search-params.ts'
import { ColumnChoice } from '../ui/column-choice.tsx'
import type { Column } from '../ui/data-table-column.ts'
import { ExportButton } from '../ui/export-button.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { SavedViews } from '../ui/saved-views.tsx'
import { useSelection } from '../ui/use-selection.ts'
import { Warnings } from '../ui/warnings.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { RecordBar } from './record-bar.tsx'
import { useLayout } from './use-layout.ts'

/** The search parameters of both lists, and those that only contacts have. */
interface RecordSearch {
  page?: number | undefined
  limit?: string | undefined
  search?: string | undefined
  sort_by?: string | undefined
  sort_dir?: 'asc' | 'desc' | undefined
  columns?: string[] | undefined
  filter?: string | undefined
  segment_id?: string | undefined
  import_id?: string | undefined
  dialog?: boolean | undefined
}

interface RecordListPageProps<Row> {
  entity: Entity
  words: {
    title: string
    list: { search: string; exported: string; noMatch: string; noMatchHint: string; none: string; noneHint: string }
  }
  icon: Icon
  search: RecordSearch
  /** Opens the list with another search. @param replace whether going back skips the present one. */
  onSearch: (update: (before: RecordSearch) => object, replace: boolean) => unknown
  /** What the list is read with, and exported with. */
  input: object
  query: {
    data: { pagination: Pagination; warnings?: string[] } | undefined
    error: unknown
    refetch: () => unknown
    isPlaceholderData: boolean
  }
  /** The same rows as before while they are the same, so that they need not be rendered again. */
  rows: Row[] | undefined
  idOf: (row: Row) => string
  nameOf: (row: Row) => string
  /** All columns, and those that are shown until a person chooses others. */
  columns: Column<Row>[]
  usualColumns: readonly string[]
  /** Given on a screen that has no space for chosen columns. */
  fixedColumns?: Column<Row>[] | undefined
  /** The columns of an exported file for those of the table. */
  inFile?: (chosen: readonly string[]) => readonly string[]
  /** Creates records: in the header. */
  create: ReactNode
  /** Creates records where there is none yet. */
  emptyAction?: ReactNode
  /** Above the table: what could not be read of it. */
  problem?: ReactNode
  /** What can be done with two selected rows of the page. */
  forPair?: (pair: readonly [Row, Row]) => ReactNode
}

/** All contacts or companies: searched, filtered, sorted and paged by the service. */
export function RecordListPage<Row>(props: RecordListPageProps<Row>) {
  const { entity, words, icon, search, onSearch, input, query, rows, idOf, nameOf, columns, fixedColumns } = props
  const { usualColumns, inFile = (chosen) => chosen, create, emptyAction, problem, forPair } = props
  const queryClient = useQueryClient()
  // A change of the list goes back to the first page.
  const change = (changes: RecordSearch, replace = false) =>
    onSearch((before) => ({ ...before, page: undefined, ...changes }), replace)
  const unlink = () => onSearch((before) => ({ ...before, columns: undefined }), true)
  const { chosen, choose, reset, layout } = useLayout(entity, usualColumns, search.columns, unlink)
  // The same list as before, so that the rows need not be rendered again.
  const shown = useMemo(
    () => chosen.flatMap((id) => columns.find((column) => column.id === id) ?? []),
    [columns, chosen],
  )
  const { filter: filterJson, segment_id: segmentId, import_id: importId } = search
  const filter = parseFilter(filterJson)
  const isFiltered = [search.search, filterJson, segmentId, importId].some((value) => value !== undefined)
  const selection = useSelection(rows?.map(idOf) ?? [])
  const [one, other] = rows?.filter((row) => selection.ids.has(idOf(row))) ?? []
  const csvOf = (ids?: readonly string[]) => {
    const these = { [entity === 'contacts' ? 'contact_ids' : 'company_ids']: ids?.join(',') }
    const which = ids ? these : { ...input, page: undefined, limit: undefined }
    const file = { ...which, columns: inFile(chosen).join(',') }
    return urlOf(entity === 'contacts' ? 'exportContacts' : 'exportCompanies', file)
  }
  return (
    <ListPage
      title={words.title}
      actions={create}
      bar={
        <>
          <RecordBar
            entity={entity}
            filter={filter}
            segmentId={segmentId}
            importId={importId}
            onFilter={(changed) =>
              change({
                filter: changed.filter && filterText(changed.filter),
                segment_id: changed.segmentId,
                import_id: changed.importId,
              })
            }
            search={{
              value: search.search,
              placeholder: words.list.search,
              onSearch: (typed) => change({ search: typed }, search.search !== undefined),
            }}
          >
            <SavedViews
              page={entity}
              query={viewOf(search)}
              columns={chosen}
              onOpen={(view) => onSearch(() => ({ ...view.query, columns: view.columns }), false)}
            />
            <ExportButton href={csvOf()} label={words.list.exported} />
            <ColumnChoice columns={columns} chosen={chosen} onChange={choose} onReset={reset} />
          </RecordBar>
          {problem}
          <Warnings of={query.data?.warnings} />
        </>
      }
      label={words.title}
      query={query}
      rowsOf={() => rows ?? []}
      rowKey={idOf}
      columns={fixedColumns ?? shown}
      opensRows
      {...(fixedColumns ? {} : { layout })}
      selection={{ ...selection, nameOf }}
      empty={
        isFiltered
          ? { icon, title: words.list.noMatch, hint: words.list.noMatchHint }
          : { icon, title: words.list.none, hint: words.list.noneHint, action: emptyAction }
      }
      sorting={{
        by: search.sort_by ?? 'createdate',
        direction: search.sort_dir ?? 'desc',
        onSort: (sort_by, sort_dir) => change({ sort_by, sort_dir }),
      }}
      paging={{
        page: search.page,
        limit: Number(search.limit ?? '20'),
        onPage: (page) => change({ page }),
        onLimit: (limit) => change({ limit: String(limit) }),
      }}
    >
      <BulkBar
        entity={entity}
        selection={selection}
        shown={rows?.length ?? 0}
        total={query.data?.pagination.total_items ?? 0}
        matching={given({ search: search.search, segment_id: segmentId, import_id: importId, filter }) as object}
        mayWrite={useMay(`${entity}:write`)}
        csvOf={csvOf}
        onChanged={() => {
          selection.clear()
          void refreshAfter(queryClient, entity === 'contacts' ? 'changeContacts' : 'changeCompanies')
        }}
      >
        {selection.ids.size === 2 && one && other ? forPair?.([one, other]) : null}
      </BulkBar>
    </ListPage>
  )
}

/** The part of the URL that a saved view stores. */
function viewOf({ page: _page, columns: _columns, dialog: _dialog, ...query }: RecordSearch) {
  return given(query)
}
