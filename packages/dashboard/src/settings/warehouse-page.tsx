import { Badge, Button } from '@mantine/core'
import { IconDatabaseExport, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { WarehouseDestination } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import type { Column } from '../ui/data-table.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { NewDestinationDialog } from './warehouse-form.tsx'
import { text } from './warehouse-text.ts'

const route = getRouteApi('/shell/settings/warehouse')
/** A tenant's limit. */
const DESTINATIONS_MAX = 20
/** Runs progress while the page is open. */
const REFRESH_MS = 5_000

/** Where the workspace's data is exported to. */
export function WarehousePage() {
  const { dialog = false } = route.useSearch()
  const navigate = route.useNavigate()
  const destinations = useQuery({
    ...queryOf('listWarehouseDestinations', { limit: DESTINATIONS_MAX }),
    refetchInterval: REFRESH_MS,
  })
  const mayCreate = useMay('data:export')
  const show = (isOpen: boolean) => navigate({ search: isOpen ? { dialog: true } : {}, replace: true })
  const create = mayCreate ? (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => show(true)}>
      {text.create.button}
    </Button>
  ) : null
  return (
    <>
      <ListPage
        title={text.title}
        description={text.description}
        create={create}
        label={text.title}
        query={destinations}
        rowsOf={(data) => data.destinations}
        rowKey={({ destination_id }) => destination_id}
        opensRows
        columns={COLUMNS}
        empty={{ icon: IconDatabaseExport, title: text.empty, hint: text.explanation }}
      />
      {mayCreate && dialog ? (
        <NewDestinationDialog hasFolders={destinations.data?.has_folders === true} onClose={() => show(false)} />
      ) : null}
    </>
  )
}

const COLUMNS: Column<WarehouseDestination>[] = [
  {
    id: 'name',
    header: text.name,
    cell: ({ name, destination_id: destinationId }) => (
      <AnchorLink fw={550} inherit to="/settings/warehouse/$destinationId" params={{ destinationId }}>
        <Foreign max={80}>{name}</Foreign>
      </AnchorLink>
    ),
  },
  {
    id: 'location',
    header: text.location,
    visibleFrom: 'md',
    cell: ({ location }) => <Foreign max={80}>{location}</Foreign>,
  },
  { id: 'schedule', header: text.schedule, visibleFrom: 'sm', cell: ({ schedule }) => scheduleWords(schedule) },
  { id: 'status', header: text.status, cell: (destination) => <DestinationState destination={destination} /> },
  {
    id: 'last',
    header: text.lastRun,
    visibleFrom: 'xs',
    cell: ({ last_run: run }) => (run ? <Moment at={run.created_at} c="dimmed" /> : text.never),
  },
  {
    id: 'next',
    header: text.nextRun,
    visibleFrom: 'lg',
    cell: ({ next_run_at: at }) => (at === null ? <None /> : <Moment at={at} c="dimmed" />),
  },
]

export function scheduleWords(schedule: string | null): string {
  return schedule === null ? text.byHand : (text.schedules[schedule] ?? schedule)
}

export const STATE_COLORS = { queued: 'yellow', running: 'blue', retrying: 'red', succeeded: 'green' } as const

/** Whether the destination is paused, else the status of its latest run. */
export function DestinationState({ destination }: { destination: WarehouseDestination }) {
  const { status, last_run: run } = destination
  if (status === 'paused') return <Badge color="gray">{text.states.paused}</Badge>
  if (run === null) return <Badge color="gray">{text.states.none}</Badge>
  return <Badge color={STATE_COLORS[run.status]}>{text.states[run.status]}</Badge>
}
