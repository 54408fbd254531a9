import { Alert, Badge, Button, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { IconArchive, IconDownload, IconEraser } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import {
  type Export,
  erasuresQuery,
  exportsQuery,
  orderExport,
  type Receipt,
  refreshExports,
} from '../api/tenant-data.ts'
import { useIsAtLeast } from '../app/may.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState, messageOf } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { ERASURES_LENGTH } from './page-lengths.ts'
import classes from './settings-table.module.css'

const route = getRouteApi('/shell/settings/data')
const REFRESH_MS = 1_500

/** Exports of all the tenant's data, and erasures. */
export function DataPage() {
  return (
    <>
      <PageHeader title="Data" description="Export all of your data and see what was erased." />
      <Stack gap="xl">
        <Exports />
        <Erasures />
      </Stack>
    </>
  )
}

function Exports() {
  const queryClient = useQueryClient()
  const { data, error, refetch } = useQuery({
    ...exportsQuery,
    refetchInterval: ({ state }) => (state.data?.exports.some(isUnderWay) ? REFRESH_MS : false),
  })
  const ordering = useMutation({ mutationFn: orderExport, onSuccess: () => refreshExports(queryClient) })
  const isBusy = data?.some(isUnderWay) ?? false
  const order = useIsAtLeast('admin') ? (
    <Button
      leftSection={<IconArchive size={16} aria-hidden />}
      loading={ordering.isPending}
      disabled={isBusy}
      onClick={() => ordering.mutate()}
    >
      Export all data
    </Button>
  ) : null
  return (
    <section>
      <Group justify="space-between" mb="sm" gap="xs">
        <div>
          <Title order={2} size="h4">
            Exports
          </Title>
          <Text size="sm" c="dimmed">
            All data of this tenant as one file, created in the background and kept for a day, or until a contact is
            erased.
          </Text>
        </div>
        {data && data.length > 0 ? order : null}
      </Group>
      {ordering.isError ? (
        <Alert color="red" role="alert" mb="sm">
          {messageOf(ordering.error)}
        </Alert>
      ) : null}
      <DataTable
        label="Exports"
        columns={EXPORT_COLUMNS}
        rows={data}
        rowKey={({ export_id }) => export_id}
        error={error}
        onRetry={refetch}
        empty={
          <EmptyState icon={IconArchive} title="No exports yet" action={order}>
            Contacts, companies, events, notes, segments and settings, as lines of JSON in one archive.
          </EmptyState>
        }
      />
    </section>
  )
}

function isUnderWay({ status }: Export): boolean {
  return status === 'queued' || status === 'running'
}

const EXPORT_COLUMNS: Column<Export>[] = [
  { id: 'created', header: 'Requested', cell: ({ created_at: at }) => <Moment at={at} fw={550} /> },
  { id: 'state', header: 'Status', cell: (each) => <ExportState each={each} /> },
  {
    id: 'records',
    header: 'Records',
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ counts }) => formatNumber(sumOf(counts)),
  },
  {
    id: 'size',
    header: 'Size',
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ size_bytes: size }) => (size === null ? <None /> : sizeWords(size)),
  },
  {
    id: 'expires',
    header: 'Kept until',
    visibleFrom: 'md',
    cell: ({ status, expires_at: at }) =>
      at === null || status !== 'ready' ? <None /> : <Moment at={at} c="dimmed" />,
  },
  {
    id: 'file',
    header: 'File',
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
          Download
        </Button>
      ),
  },
]

const EXPORT_STATES = {
  queued: { color: 'gray', label: 'waiting' },
  running: { color: 'yellow', label: 'in progress' },
  ready: { color: 'green', label: 'ready' },
  failed: { color: 'red', label: 'failed' },
  expired: { color: 'gray', label: 'expired' },
} as const

function ExportState({ each }: { each: Export }) {
  const { color, label } = EXPORT_STATES[each.status]
  if (isUnderWay(each)) {
    const percent = Math.round(each.progress * 100)
    return (
      <Stack gap={4} role="status" miw={90}>
        <Text size="sm">
          {label}, {percent} %
        </Text>
        <Progress value={percent} size="sm" aria-label="Progress of the export" />
      </Stack>
    )
  }
  return (
    <Stack gap={2} align="flex-start">
      <Badge color={color}>{label}</Badge>
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
  const { data, error, isPlaceholderData, refetch } = useQuery(erasuresQuery(page, ERASURES_LENGTH))
  return (
    <section>
      <Title order={2} size="h4">
        Erasures
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Proof that a contact was erased everywhere: what was removed, without personal data.
      </Text>
      <DataTable
        label="Erasures"
        columns={ERASURE_COLUMNS}
        rows={data?.erasures}
        rowKey={({ erasure_id }) => erasure_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconEraser} title="No erasures yet">
            An administrator erases a contact on the contact's page.
          </EmptyState>
        }
        paging={{
          page,
          limit: ERASURES_LENGTH,
          total: data?.pagination.total_items ?? 0,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </section>
  )
}

const ERASURE_STATES = {
  running: { color: 'yellow', label: 'in progress' },
  erased: { color: 'green', label: 'erased' },
  verified: { color: 'green', label: 'erased, verified' },
} as const

const ERASURE_COLUMNS: Column<Receipt>[] = [
  {
    id: 'contact',
    header: 'Contact',
    cell: ({ contact_id: id }) => (
      <Text size="sm" ff="monospace" className={classes.name}>
        {id}
      </Text>
    ),
  },
  {
    id: 'state',
    header: 'Status',
    cell: ({ status }) => <Badge color={ERASURE_STATES[status].color}>{ERASURE_STATES[status].label}</Badge>,
  },
  { id: 'at', header: 'Requested', visibleFrom: 'sm', cell: ({ at }) => <Moment at={at} c="dimmed" /> },
  {
    id: 'by',
    header: 'By',
    visibleFrom: 'md',
    cell: ({ requested_by: by }) => (by === null ? <None /> : <Foreign max={60}>{by.name}</Foreign>),
  },
  {
    id: 'removed',
    header: 'Removed',
    visibleFrom: 'md',
    cell: ({ removed }) => (
      <Text size="sm" c="dimmed" maw={320} className={classes.name}>
        {removedWords(removed)}
      </Text>
    ),
  },
]

function removedWords(removed: Receipt['removed']): string {
  const words = Object.entries(removed).flatMap(([what, count]) =>
    count > 0 ? [`${what.replaceAll('_', ' ')}: ${formatNumber(count)}`] : [],
  )
  return words.length === 0 ? 'nothing yet' : words.join(', ')
}

function sumOf(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function sizeWords(bytes: number): string {
  if (bytes < 1_000_000) return `${formatNumber(Math.ceil(bytes / 1_000))} kB`
  return `${formatNumber(Math.round(bytes / 100_000) / 10)} MB`
}
