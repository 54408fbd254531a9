import { Alert, Badge, Card, Group, Stack, Text, Title } from '@mantine/core'
import { IconDatabaseExport } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { queryOf } from '../api/operation.ts'
import type { WarehouseDestination, WarehouseRun } from '../api/types.ts'
import type { Column } from '../ui/data-table.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatMoment } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { List } from '../ui/list-page.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { PendingPage } from '../ui/page-states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { DestinationActions } from './warehouse-actions.tsx'
import { DestinationState, STATE_COLORS, scheduleWords } from './warehouse-page.tsx'
import { text } from './warehouse-text.ts'

const route = getRouteApi('/shell/settings/warehouse/$destinationId')
/** Runs per page. */
const RUNS_LENGTH = 20
/** Runs progress while the page is open. */
const REFRESH_MS = 3_000

/** An export destination: its settings and its runs. */
export function WarehouseDestinationPage() {
  const { destinationId } = route.useParams()
  const { data, error, refetch } = useQuery({
    ...queryOf('getWarehouseDestination', { destination_id: destinationId }),
    select: ({ destination }) => destination,
    refetchInterval: REFRESH_MS,
  })
  const breadcrumb = (
    <AnchorLink inherit to="/settings/warehouse">
      {text.title}
    </AnchorLink>
  )
  if (!data) return <PendingPage title={text.one.title} breadcrumb={breadcrumb} error={error} onRetry={refetch} />
  return (
    <>
      <PageHeader
        title={<Foreign max={100}>{data.name}</Foreign>}
        documentTitle={data.name}
        breadcrumb={breadcrumb}
        actions={<DestinationActions destination={data} />}
      />
      <Stack gap="md">
        {data.last_run?.error ? (
          <Alert color="red" role="alert" title={text.states.retrying}>
            <Foreign max={1_000}>{data.last_run.error}</Foreign>
            {data.last_run.next_attempt_at === null ? null : (
              <Text size="sm">{text.runs.nextAttempt(formatMoment(data.last_run.next_attempt_at))}</Text>
            )}
          </Alert>
        ) : null}
        <Card>
          <Facts facts={factsOf(data)} />
        </Card>
        <Runs destinationId={destinationId} />
      </Stack>
    </>
  )
}

function factsOf(destination: WarehouseDestination): [string, ReactNode][] {
  const { location, access_key_id: key, schedule, time_zone: zone, next_run_at: next } = destination
  return [
    [text.status, <DestinationState key="state" destination={destination} />],
    [text.one.files, <Foreign key="files">{location}</Foreign>],
    ...(key === null ? [] : [[text.one.accessKey, <Foreign key="key">{key}</Foreign>] as [string, ReactNode]]),
    [text.schedule, `${scheduleWords(schedule)}${schedule === null || schedule === 'hourly' ? '' : `, ${zone}`}`],
    [text.nextRun, next === null ? <None key="next" /> : formatMoment(next)],
    [text.created, formatMoment(destination.created_at)],
  ]
}

function Runs({ destinationId }: { destinationId: string }) {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const runs = useQuery({
    ...queryOf('listWarehouseRuns', { destination_id: destinationId, page, limit: RUNS_LENGTH }),
    refetchInterval: REFRESH_MS,
  })
  return (
    <section>
      <Title order={2} size="h4" mb="sm">
        {text.runs.title}
      </Title>
      <List
        label={text.runs.title}
        query={runs}
        rowsOf={(data) => data.runs}
        rowKey={({ run_id }) => run_id}
        columns={COLUMNS}
        empty={{ icon: IconDatabaseExport, title: text.runs.empty, hint: text.runs.emptyExplanation }}
        paging={{
          page,
          limit: RUNS_LENGTH,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next }, replace: true }),
        }}
      />
    </section>
  )
}

const sumOf = ({ tables }: WarehouseRun, figure: 'files' | 'rows' | 'bytes') =>
  Object.values(tables).reduce((sum, table) => sum + table[figure], 0)

const COLUMNS: Column<WarehouseRun>[] = [
  {
    id: 'when',
    header: text.runs.when,
    cell: ({ created_at: at, is_full: isFull }) => (
      <Group gap={6} wrap="nowrap">
        <Moment at={at} />
        {isFull ? <Badge color="gray">{text.runs.full}</Badge> : null}
      </Group>
    ),
  },
  {
    id: 'status',
    header: text.runs.status,
    cell: ({ status }) => <Badge color={STATE_COLORS[status]}>{text.states[status]}</Badge>,
  },
  { id: 'rows', header: text.runs.rows, align: 'right', cell: (run) => text.runs.count(sumOf(run, 'rows')) },
  {
    id: 'files',
    header: text.runs.files,
    align: 'right',
    visibleFrom: 'sm',
    cell: (run) => text.runs.count(sumOf(run, 'files')),
  },
  {
    id: 'size',
    header: text.runs.size,
    align: 'right',
    visibleFrom: 'sm',
    cell: (run) => text.runs.megabytes(sumOf(run, 'bytes')),
  },
  {
    id: 'error',
    header: text.runs.error,
    visibleFrom: 'md',
    cell: ({ error }) => (error === null ? <None /> : <Foreign max={120}>{error}</Foreign>),
  },
]
