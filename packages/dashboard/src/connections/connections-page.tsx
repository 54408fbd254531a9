import { Badge } from '@mantine/core'
import { IconPlugConnected, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { Connection, Connector } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import type { Column } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { labelOf, totalsOf } from './connection-words.ts'
import { text } from './text.ts'

const route = getRouteApi('/shell/connections')
/** Rows per page. */
const CONNECTIONS_LENGTH = 50
/** The polling interval during a pull, and before a due pull. */
const WORKING_MS = 2_000
const WAITING_MS = 15_000

/** How often to read connections again: often while a pull is running or about to start. */
export function pollingMs(connections: readonly Connection[] = []): number {
  const isAtWork = connections.some(
    ({ state, next_pull_at: next }) =>
      state === 'pulling' || (state === 'waiting' && next !== null && Date.parse(next) <= Date.now()),
  )
  return isAtWork ? WORKING_MS : WAITING_MS
}

/** All connected systems, with their states and the results of their last runs. */
export function ConnectionsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const connectors = useQuery(queryOf('listConnectors')).data?.connectors
  const connections = useQuery({
    ...queryOf('listConnections', { page, limit: CONNECTIONS_LENGTH }),
    refetchInterval: ({ state }) => pollingMs(state.data?.connections),
  })
  return (
    <ListPage
      title={text.title}
      description={text.list.description}
      create={
        useMay('settings:write') ? (
          <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to="/connections/new">
            {text.list.create}
          </ButtonLink>
        ) : null
      }
      label={text.title}
      opensRows
      query={connections}
      rowsOf={(data) => data.connections}
      rowKey={({ connection_id }) => connection_id}
      columns={columnsWith(connectors)}
      empty={{ icon: IconPlugConnected, title: text.list.empty, hint: text.list.emptyExplanation }}
      paging={{
        page,
        limit: CONNECTIONS_LENGTH,
        onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
      }}
    />
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
