import { Badge, Stack, Text, Title } from '@mantine/core'
import { IconChecks, IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Connection, ConnectionError, ConnectionRun } from '../api/types.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatDuration } from '../ui/format.ts'
import { List } from '../ui/list-page.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import classes from './connection-tables.module.css'
import { countWords, fieldWords } from './connection-words.ts'
import { text } from './text.ts'

const route = getRouteApi('/shell/connections/$connectionId')
/** New runs and errors arrive while the page is open. */
const REFRESH_MS = 5_000
/** Rows per page. */
const RUNS_LENGTH = 10
const ERRORS_LENGTH = 20

/** The progress of each object. */
export function Objects({ connection: { objects, last_run: run } }: { connection: Connection }) {
  const columns: Column<Connection['objects'][number]>[] = [
    { id: 'object', header: text.objects.object, cell: ({ name }) => fieldWords(name) },
    {
      id: 'until',
      header: text.objects.until,
      cell: ({ read_until: until, is_reading: isReading, error }) => (
        <Stack gap={2} align="flex-start">
          {until === null ? (
            <Text span inherit c="dimmed">
              {text.objects.notYet}
            </Text>
          ) : (
            <Moment at={until} />
          )}
          {isReading ? <Badge color="yellow">{text.objects.reading}</Badge> : null}
          {error === null ? null : (
            <Wrapped>
              <Badge color="red">{text.objects.notRead}</Badge> <Foreign max={500}>{error}</Foreign>
            </Wrapped>
          )}
        </Stack>
      ),
    },
    {
      id: 'counts',
      header: text.objects.counts,
      cell: ({ name }) => (run ? <Wrapped>{countWords(run.counts[name])}</Wrapped> : null),
    },
  ]
  return (
    <Part title={text.objects.title}>
      <DataTable label={text.objects.title} columns={columns} rows={objects} rowKey={({ name }) => name} empty={null} />
    </Part>
  )
}

export function Runs({ connection: { connection_id } }: { connection: Connection }) {
  const { runs: page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const runs = useQuery({
    ...queryOf('listConnectionRuns', { connection_id, page, limit: RUNS_LENGTH }),
    refetchInterval: REFRESH_MS,
  })
  return (
    <Part title={text.runs.title}>
      <List
        label={text.runs.title}
        query={runs}
        rowsOf={(data) => data.runs}
        rowKey={({ run_id }) => run_id}
        columns={RUN_COLUMNS}
        empty={{ icon: IconRefresh, title: text.runs.empty, hint: text.runs.emptyExplanation }}
        paging={{
          page,
          limit: RUNS_LENGTH,
          onPage: (next) =>
            navigate({ search: (before) => ({ ...before, runs: next === 1 ? undefined : next }), replace: true }),
        }}
      />
    </Part>
  )
}

const RUN_COLUMNS: Column<ConnectionRun>[] = [
  { id: 'started', header: text.runs.started, cell: ({ started_at }) => <Moment at={started_at} /> },
  {
    id: 'took',
    header: text.runs.took,
    cell: ({ started_at, finished_at }) =>
      finished_at === null ? (
        <Badge color="yellow">{text.runs.notComplete}</Badge>
      ) : (
        formatDuration((Date.parse(finished_at) - Date.parse(started_at)) / 1_000) || text.runs.moment
      ),
  },
  {
    id: 'counts',
    header: text.runs.counts,
    cell: ({ counts }) => {
      const objects = Object.entries(counts).filter(([, each]) => Object.keys(each).length > 0)
      if (objects.length === 0) return text.nothing
      return (
        <Stack gap={0} className={classes.wrapped}>
          {objects.map(([name, each]) => (
            <span key={name}>{`${fieldWords(name)}: ${countWords(each)}`}</span>
          ))}
        </Stack>
      )
    },
  },
]

export function Errors({ connection: { connection_id } }: { connection: Connection }) {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const errors = useQuery({
    ...queryOf('listConnectionErrors', { connection_id, page, limit: ERRORS_LENGTH }),
    refetchInterval: REFRESH_MS,
  })
  return (
    <Part title={text.errors.title} description={text.errors.description}>
      <List
        label={text.errors.title}
        query={errors}
        rowsOf={(data) => data.errors}
        rowKey={({ error_id }) => error_id}
        columns={ERROR_COLUMNS}
        empty={{ icon: IconChecks, title: text.errors.empty, hint: text.errors.emptyExplanation }}
        paging={{
          page,
          limit: ERRORS_LENGTH,
          onPage: (next) =>
            navigate({ search: (before) => ({ ...before, page: next === 1 ? undefined : next }), replace: true }),
        }}
      />
    </Part>
  )
}

const ERROR_COLUMNS: Column<ConnectionError>[] = [
  {
    id: 'id',
    header: text.errors.id,
    cell: ({ external_id }) => (
      <Wrapped>
        <Foreign max={60}>{external_id}</Foreign>
      </Wrapped>
    ),
  },
  { id: 'object', header: text.errors.object, visibleFrom: 'sm', cell: ({ object }) => fieldWords(object) },
  {
    id: 'reason',
    header: text.errors.reason,
    cell: ({ message }) => (
      <Wrapped>
        <Foreign max={500}>{message}</Foreign>
      </Wrapped>
    ),
  },
  { id: 'at', header: text.errors.at, visibleFrom: 'sm', cell: ({ at }) => <Moment at={at} c="dimmed" /> },
]

/** A long text that wraps, so that it can be read on a phone. */
function Wrapped({ children }: { children: ReactNode }) {
  return <div className={classes.wrapped}>{children}</div>
}

function Part({ title, description, children }: { title: string; description?: string; children: ReactNode }) {
  return (
    <section>
      <Title order={2} size="h4" mb={description ? 0 : 'sm'}>
        {title}
      </Title>
      {description ? (
        <Text size="sm" c="dimmed" mb="sm">
          {description}
        </Text>
      ) : null}
      {children}
    </section>
  )
}
