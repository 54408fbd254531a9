import { Badge } from '@mantine/core'
import { IconPlugConnected, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import {
  CONNECTIONS_LENGTH,
  type Connection,
  type Connector,
  connectionsQuery,
  connectorsQuery,
} from '../api/connections.ts'
import { useMay } from '../session/may.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { labelOf, totalsOf } from './connection-words.ts'
import { text } from './text.ts'

const route = getRouteApi('/shell/connections')

/** All connected systems, with their states and the results of their last runs. */
export function ConnectionsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: connectors } = useQuery(connectorsQuery)
  const { data, error, isPlaceholderData, refetch } = useQuery(connectionsQuery(page, CONNECTIONS_LENGTH))
  const create = useMay('settings:write') ? (
    <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to="/connections/new">
      {text.list.create}
    </ButtonLink>
  ) : null
  return (
    <>
      <PageHeader title={text.title} description={text.list.description} actions={create} />
      <DataTable
        label={text.title}
        opensRows
        columns={columnsWith(connectors)}
        rows={data?.connections}
        rowKey={({ connection_id }) => connection_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconPlugConnected} title={text.list.empty} action={create}>
            {text.list.emptyExplanation}
          </EmptyState>
        }
        paging={{
          page,
          limit: CONNECTIONS_LENGTH,
          total: data?.pagination.total_items ?? 0,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </>
  )
}

function columnsWith(connectors: readonly Connector[] | undefined): Column<Connection>[] {
  const total = ({ last_run: run }: Connection, which: 'changed' | 'failed') =>
    run === null ? <None /> : formatNumber(totalsOf(run)[which])
  return [
    {
      id: 'system',
      header: text.list.system,
      cell: (connection) => (
        <AnchorLink
          fw={550}
          inherit
          to="/connections/$connectionId"
          params={{ connectionId: connection.connection_id }}
        >
          {labelOf(connection, connectors)}
        </AnchorLink>
      ),
    },
    { id: 'state', header: text.list.state, cell: (connection) => <State {...connection} /> },
    { id: 'account', header: text.list.account, cell: ({ account }) => <Foreign max={80}>{account}</Foreign> },
    {
      id: 'last',
      header: text.list.lastRun,
      visibleFrom: 'sm',
      cell: ({ last_run: run }) => (run === null ? <None /> : <Moment at={run.finished_at ?? run.started_at} />),
    },
    {
      id: 'changed',
      header: text.list.counts,
      align: 'right',
      visibleFrom: 'md',
      cell: (connection) => total(connection, 'changed'),
    },
    {
      id: 'failed',
      header: text.list.failed,
      align: 'right',
      visibleFrom: 'md',
      cell: (connection) => total(connection, 'failed'),
    },
    {
      id: 'next',
      header: text.list.nextPull,
      visibleFrom: 'lg',
      cell: (connection) => <NextPull {...connection} />,
    },
  ]
}

const COLORS = { waiting: 'green', pulling: 'yellow', failed: 'red', signed_out: 'red', paused: 'gray' } as const

export function State({ state }: Pick<Connection, 'state'>) {
  return <Badge color={COLORS[state]}>{text.states[state]}</Badge>
}

export function NextPull({ state, next_pull_at: at }: Pick<Connection, 'state' | 'next_pull_at'>) {
  if (at === null) return <None />
  if (state === 'pulling' || Date.parse(at) <= Date.now()) return text.now
  return <Moment at={at} />
}
