import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { DataTable, type DataTableProps } from './data-table.tsx'
import { PageHeader } from './page-header.tsx'
import { EmptyState } from './states.tsx'

/** What a list needs of `useQuery`. */
interface Reading<Data> {
  data: Data | undefined
  error: unknown
  refetch: () => unknown
  isPlaceholderData: boolean
}

/** What is shown instead of an empty list. */
interface Empty {
  icon: Icon
  title: string
  hint: ReactNode
  action?: ReactNode
}

interface ListProps<Data, Row>
  extends Omit<DataTableProps<Row>, 'rows' | 'error' | 'onRetry' | 'isUpdating' | 'empty' | 'paging'> {
  /** The query of the list, such as `useQuery(queryOf('listHooks', { limit: 50 }))`. */
  query: Reading<Data>
  rowsOf: (data: Data) => Row[]
  empty: Empty
  /** Given if the list has pages: the one that is shown, its rows, and how to open another. */
  paging?: {
    page?: number | undefined
    limit: number
    onPage: (page: number) => void
    onLimit?: (limit: number) => void
  }
}

/** A table of what an operation lists: its rows, or why there are none, or what failed. */
export function List<Data extends object, Row>({ query, rowsOf, empty, paging, ...table }: ListProps<Data, Row>) {
  const { data, error, refetch, isPlaceholderData } = query
  const total = data && totalOf(data)
  return (
    <DataTable
      {...table}
      rows={data && rowsOf(data)}
      error={error}
      onRetry={refetch}
      isUpdating={isPlaceholderData}
      empty={
        <EmptyState icon={empty.icon} title={empty.title} action={empty.action}>
          {empty.hint}
        </EmptyState>
      }
      {...(paging ? { paging: { ...paging, page: paging.page ?? 1, total: total ?? 0 } } : {})}
    />
  )
}

function totalOf(data: object): number | undefined {
  const { pagination, total } = data as { pagination?: { total_items?: number }; total?: number }
  return pagination?.total_items ?? total
}

interface ListPageProps<Data, Row> extends ListProps<Data, Row> {
  title: string
  description?: ReactNode
  /** Creates another row: in the header, and where there is none yet. */
  create?: ReactNode
  /** Further buttons in the header. */
  actions?: ReactNode
  /** Between header and table: search, filter, columns, export. */
  bar?: ReactNode
}

/** A page that is a list: its header, what narrows it, and the table. */
export function ListPage<Data extends object, Row>(props: ListPageProps<Data, Row>) {
  const { title, description, create, actions, bar, empty, ...list } = props
  return (
    <>
      <PageHeader
        title={title}
        description={description}
        actions={
          create || actions ? (
            <>
              {actions}
              {create}
            </>
          ) : null
        }
      />
      {bar}
      <List {...list} empty={{ action: create, ...empty }} />
    </>
  )
}
