import { Button, Group, Stack, Text } from '@mantine/core'
import { IconLayoutDashboard, IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { queryOf, refreshAfter, useOperation } from '../../api/operation.ts'
import type { Dashboard } from '../../api/types.ts'
import { useMay } from '../../session/may.ts'
import type { Column } from '../../ui/data-table.tsx'
import { FormError } from '../../ui/form.tsx'
import { FormDialog, NameField } from '../../ui/form-dialog.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { List } from '../../ui/list-page.tsx'
import { Foreign, Moment } from '../../ui/text.tsx'
import { eventNamesQuery } from '../answer-query.ts'
import { InsightHeader } from '../insight-frame.tsx'
import { DashboardMenu } from './dashboard-menu.tsx'
import { growthOf } from './growth.ts'
import { text } from './text.ts'

const words = text.list
/** Rows per page. */
const DASHBOARDS_LENGTH = 50

const route = getRouteApi('/shell/insights/dashboards')

/** Reports side by side: all dashboards. */
export function DashboardsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const dashboards = useQuery(queryOf('listDashboards', { page, limit: DASHBOARDS_LENGTH }))
  const mayChange = useMay('segments:write')
  return (
    <>
      <InsightHeader tab="dashboards" actions={mayChange ? <NewDashboard /> : null} />
      <List
        label={words.table}
        query={dashboards}
        rowsOf={(data) => data.dashboards}
        rowKey={({ dashboard_id }) => dashboard_id}
        columns={COLUMNS}
        empty={{
          icon: IconLayoutDashboard,
          title: words.empty,
          hint: words.emptyHint,
          action: mayChange ? <Growth /> : null,
        }}
        paging={{
          page,
          limit: DASHBOARDS_LENGTH,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </>
  )
}

const COLUMNS: Column<Dashboard>[] = [
  {
    id: 'name',
    header: words.name,
    cell: ({ name, dashboard_id: dashboardId }) => (
      <AnchorLink fw={550} inherit to="/insights/dashboards/$dashboardId" params={{ dashboardId }}>
        <Foreign max={120}>{name}</Foreign>
      </AnchorLink>
    ),
  },
  { id: 'tiles', header: words.tiles, align: 'right', cell: ({ tiles }) => tiles.length },
  {
    id: 'updated_at',
    header: words.changed,
    visibleFrom: 'sm',
    cell: ({ updated_at: at }) => <Moment at={at} c="dimmed" />,
  },
  {
    id: 'menu',
    header: words.actions,
    align: 'right',
    cell: (dashboard) => <DashboardMenu dashboard={dashboard} />,
  },
]

/** Opens a dashboard that was created. */
function useOpen() {
  const router = useRouter()
  return ({ dashboard }: { dashboard: Dashboard }) =>
    router.navigate({ to: '/insights/dashboards/$dashboardId', params: { dashboardId: dashboard.dashboard_id } })
}

function NewDashboard() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setOpen(true)}>
        {words.create}
      </Button>
      {isOpen ? <CreateDialog onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const creating = useOperation('createDashboard', { onDone: useOpen() })
  return (
    <FormDialog
      title={text.create.title}
      submit={text.create.submit}
      sending={creating}
      isDisabled={name.trim() === ''}
      onSubmit={() => creating.mutate({ name: name.trim() })}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} />
    </FormDialog>
  )
}

/** Creates the ready-made dashboard, if there are events that it can be about. */
function Growth() {
  const queryClient = useQueryClient()
  const { data: events = [] } = useQuery(eventNamesQuery)
  const open = useOpen()
  // After a failure, those that are there are not created again.
  const created = useRef(new Map<string, string>())
  const creating = useMutation({
    mutationFn: async () => {
      const parts = growthOf(events)
      for (const { report } of parts) {
        if (created.current.has(report.name)) continue
        const { report: made } = await call('createReport', report)
        created.current.set(report.name, made.report_id)
      }
      const tiles = parts.flatMap(({ report, tiles }) =>
        tiles.map((tile) => ({ ...tile, report_id: created.current.get(report.name) ?? '' })),
      )
      return call('createDashboard', { name: text.growth.name, tiles })
    },
    onSuccess: async (made) => {
      await Promise.all([refreshAfter(queryClient, 'createReport'), refreshAfter(queryClient, 'createDashboard')])
      await open(made)
    },
  })
  if (events.length === 0) return null
  const names = growthOf(events).map(({ report }) => report.name)
  return (
    <Stack align="center" gap="xs">
      <Text size="sm" c="dimmed" maw={440}>
        {words.growthHint(names.join(', '))}
      </Text>
      <Group justify="center">
        <Button variant="light" loading={creating.isPending} onClick={() => creating.mutate()}>
          {words.growth}
        </Button>
      </Group>
      <FormError error={creating.error} />
    </Stack>
  )
}
