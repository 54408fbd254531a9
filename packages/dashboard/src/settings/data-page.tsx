import { Alert, Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconArchive, IconDownload, IconEraser } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf, useOperation } from '../api/operation.ts'
import type { ErasureReceipt, Export } from '../api/types.ts'
import { useIsAtLeast } from '../session/may.ts'
import type { Column } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { List } from '../ui/list-page.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { RunProgress } from '../ui/run-progress.tsx'
import { messageOf } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import classes from './settings-table.module.css'
import { text } from './text.ts'

const route = getRouteApi('/shell/settings/data')
/** Rows per page. */
const ERASURES_LENGTH = 20
const REFRESH_MS = 1_500

/** Exports of all the workspace's data, and erasures. */
export function DataPage() {
  return (
    <>
      <PageHeader title={text.data.title} description={text.data.description} />
      <Stack gap="xl">
        <Exports />
        <Erasures />
      </Stack>
    </>
  )
}

function Exports() {
  const exports = useQuery({
    ...queryOf('listExports'),
    refetchInterval: ({ state }) => (state.data?.exports.some(isUnderWay) ? REFRESH_MS : false),
  })
  const creating = useOperation('createExport')
  const isBusy = exports.data?.exports.some(isUnderWay) ?? false
  const createButton = useIsAtLeast('admin') ? (
    <Button
      leftSection={<IconArchive size={16} aria-hidden />}
      loading={creating.isPending}
      disabled={isBusy}
      onClick={() => creating.mutate({})}
    >
      {text.data.exports.create}
    </Button>
  ) : null
  return (
    <section>
      <Group justify="space-between" mb="sm" gap="xs">
        <div>
          <Title order={2} size="h4">
            {text.data.exports.title}
          </Title>
          <Text size="sm" c="dimmed">
            {text.data.exports.explanation}
          </Text>
        </div>
        {exports.data?.exports.length ? createButton : null}
      </Group>
      {creating.isError ? (
        <Alert color="red" role="alert" mb="sm">
          {messageOf(creating.error)}
        </Alert>
      ) : null}
      <List
        label={text.data.exports.title}
        query={exports}
        rowsOf={(data) => data.exports}
        rowKey={({ export_id }) => export_id}
        columns={EXPORT_COLUMNS}
        empty={{
          icon: IconArchive,
          title: text.data.exports.empty,
          hint: text.data.exports.emptyExplanation,
          action: createButton,
        }}
      />
    </section>
  )
}

function isUnderWay({ status }: Export): boolean {
  return status === 'queued' || status === 'running'
}

const EXPORT_COLUMNS: Column<Export>[] = [
  { id: 'created', header: text.data.exports.requested, cell: ({ created_at: at }) => <Moment at={at} fw={550} /> },
  { id: 'state', header: text.data.exports.status, cell: (each) => <ExportState each={each} /> },
  {
    id: 'records',
    header: text.data.exports.records,
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ counts }) => formatNumber(sumOf(counts)),
  },
  {
    id: 'size',
    header: text.data.exports.size,
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ size_bytes: size }) => (size === null ? <None /> : sizeWords(size)),
  },
  {
    id: 'expires',
    header: text.data.exports.keptUntil,
    visibleFrom: 'md',
    cell: ({ status, expires_at: at }) =>
      at === null || status !== 'ready' ? <None /> : <Moment at={at} c="dimmed" />,
  },
  {
    id: 'file',
    header: text.data.exports.file,
    align: 'right',
    cell: ({ url }) =>
      url === null ? (
        <None />
      ) : (
        <Button
          component="a"
          href={url}
          download
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
        >
          {text.data.exports.download}
        </Button>
      ),
  },
]

const EXPORT_COLORS = { queued: 'gray', running: 'yellow', ready: 'green', failed: 'red', expired: 'gray' } as const

function ExportState({ each }: { each: Export }) {
  const label = text.data.exports.states[each.status]
  if (isUnderWay(each)) {
    return (
      <RunProgress share={each.progress} label={text.data.exports.progressLabel}>
        {text.data.exports.progress(label, Math.round(each.progress * 100))}
      </RunProgress>
    )
  }
  return (
    <Stack gap={2} align="flex-start">
      <Badge color={EXPORT_COLORS[each.status]}>{label}</Badge>
      {each.error === null ? null : (
        <Text size="xs" c="dimmed">
          <Foreign>{each.error}</Foreign>
        </Text>
      )}
    </Stack>
  )
}

function Erasures() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const erasures = useQuery({
    ...queryOf('listErasures', { page, limit: ERASURES_LENGTH }),
    refetchInterval: ({ state }) => (state.data?.erasures.some(({ status }) => status === 'running') ? 2_000 : false),
  })
  return (
    <section>
      <Title order={2} size="h4">
        {text.data.erasures.title}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {text.data.erasures.explanation}
      </Text>
      <List
        label={text.data.erasures.title}
        query={erasures}
        rowsOf={(data) => data.erasures}
        rowKey={({ erasure_id }) => erasure_id}
        columns={ERASURE_COLUMNS}
        empty={{ icon: IconEraser, title: text.data.erasures.empty, hint: text.data.erasures.emptyExplanation }}
        paging={{
          page,
          limit: ERASURES_LENGTH,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </section>
  )
}

const ERASURE_COLORS = { running: 'yellow', erased: 'green', verified: 'green' } as const

const ERASURE_COLUMNS: Column<ErasureReceipt>[] = [
  {
    id: 'contact',
    header: text.data.erasures.contact,
    cell: ({ contact_id: id }) => (
      <Text size="sm" ff="monospace" className={classes.name}>
        {id}
      </Text>
    ),
  },
  {
    id: 'state',
    header: text.data.erasures.status,
    cell: ({ status }) => <Badge color={ERASURE_COLORS[status]}>{text.data.erasures.states[status]}</Badge>,
  },
  {
    id: 'at',
    header: text.data.erasures.requested,
    visibleFrom: 'sm',
    cell: ({ at }) => <Moment at={at} c="dimmed" />,
  },
  {
    id: 'by',
    header: text.data.erasures.by,
    visibleFrom: 'md',
    cell: ({ requested_by: by }) => (by === null ? <None /> : <Foreign max={60}>{by.name}</Foreign>),
  },
  {
    id: 'removed',
    header: text.data.erasures.removed,
    visibleFrom: 'md',
    cell: ({ removed }) => (
      <Text size="sm" c="dimmed" maw={320} className={classes.name}>
        {removedWords(removed)}
      </Text>
    ),
  },
]

function removedWords(removed: ErasureReceipt['removed']): string {
  const words = Object.entries(removed).flatMap(([what, count]) =>
    count > 0 ? [text.data.erasures.removedCount(what, count)] : [],
  )
  return words.length === 0 ? text.data.erasures.nothing : words.join(', ')
}

function sumOf(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function sizeWords(bytes: number): string {
  if (bytes < 1_000_000) return text.data.exports.kilobytes(Math.ceil(bytes / 1_000))
  return text.data.exports.megabytes(Math.round(bytes / 100_000) / 10)
}
