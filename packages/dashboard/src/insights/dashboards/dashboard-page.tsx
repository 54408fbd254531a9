import { Button, Card, Group, Text } from '@mantine/core'
import { IconLayoutDashboard, IconPencil } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../session/may.ts'
import { FormError } from '../../ui/form.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx'
import { Foreign } from '../../ui/text.tsx'
import { type Defaults, triedOf } from './asked.ts'
import { DashboardBar } from './dashboard-bar.tsx'
import { DashboardMenu } from './dashboard-menu.tsx'
import { EditTiles } from './edit-tiles.tsx'
import { ReportTile } from './report-tile.tsx'
import { dashboardQuery, type ReadDashboard, useSaving } from './save.ts'
import { text } from './text.ts'
import { TileCard, TileText } from './tile.tsx'
import { TileGrid } from './tile-grid.tsx'

const words = text.page

const route = getRouteApi('/shell/insights/dashboards/$dashboardId')

/** Reports side by side, for one range and one filter. */
export function DashboardPage() {
  const { dashboardId } = route.useParams()
  const { data, error, refetch } = useQuery(dashboardQuery(dashboardId))
  // What is edited is changed by nobody else on the page.
  const [edited, setEdited] = useState<ReadDashboard | null>(null)
  const mayChange = useMay('segments:write')
  const router = useRouter()
  const read = edited ?? data
  return (
    <>
      <PageHeader
        title={read ? <Foreign max={120}>{read.dashboard.name}</Foreign> : words.breadcrumb}
        documentTitle={read?.dashboard.name ?? words.breadcrumb}
        breadcrumb={
          <AnchorLink inherit to="/insights/dashboards">
            {words.breadcrumb}
          </AnchorLink>
        }
        actions={
          data && !edited ? (
            <>
              {mayChange ? (
                <Button
                  variant="default"
                  leftSection={<IconPencil size={16} aria-hidden />}
                  onClick={() => setEdited(data)}
                >
                  {words.edit}
                </Button>
              ) : null}
              <DashboardMenu
                dashboard={data.dashboard}
                onDeleted={() => router.navigate({ to: '/insights/dashboards' })}
              />
            </>
          ) : null
        }
      />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={10} label={words.loading} /> : null}
      {read ? (
        <Tiles
          key={dashboardId}
          read={read}
          isEdited={edited !== null}
          onEdit={mayChange ? () => setEdited(read) : undefined}
          onEdited={() => setEdited(null)}
        />
      ) : null}
    </>
  )
}

interface TilesProps {
  read: ReadDashboard
  isEdited: boolean
  /** Undefined for those who may not. */
  onEdit: (() => void) | undefined
  onEdited: () => void
}

function Tiles({ read, isEdited, onEdit, onEdited }: TilesProps) {
  const search = route.useSearch()
  const { dashboard } = read
  const defaults = triedOf(search, dashboard)
  return (
    <>
      <Bar read={read} defaults={defaults} mayKeep={onEdit !== undefined && !isEdited} />
      {isEdited ? <EditTiles read={read} defaults={defaults} onDone={onEdited} /> : null}
      {!isEdited && dashboard.tiles.length === 0 ? (
        <Card>
          <EmptyState
            icon={IconLayoutDashboard}
            title={words.empty}
            action={
              onEdit ? (
                <Button variant="light" onClick={onEdit}>
                  {words.add}
                </Button>
              ) : null
            }
          >
            {words.emptyHint}
          </EmptyState>
        </Card>
      ) : null}
      {!isEdited && dashboard.tiles.length > 0 ? (
        <TileGrid tiles={dashboard.tiles.map((tile, index) => ({ ...tile, key: `${index}` }))}>
          {({ report_id: reportId, text: written, view }) =>
            reportId === undefined ? (
              <TileCard>
                <TileText>{written ?? ''}</TileText>
              </TileCard>
            ) : (
              <ReportTile reportId={reportId} view={view} defaults={defaults} />
            )
          }
        </TileGrid>
      ) : null}
    </>
  )
}

/** The range and the filter, which are tried by whoever looks, and kept for everyone. */
function Bar({ read, defaults, mayKeep }: { read: ReadDashboard; defaults: Defaults; mayKeep: boolean }) {
  const navigate = route.useNavigate()
  const { range, where } = read.dashboard
  const reset = () => navigate({ search: {}, replace: true })
  const saving = useSaving(read, reset)
  const isTried = JSON.stringify([defaults.range, defaults.where]) !== JSON.stringify([range, where])
  return (
    <>
      <DashboardBar
        defaults={defaults}
        onTry={(changes) => navigate({ search: (before) => ({ ...before, ...changes }), replace: true })}
      />
      {isTried ? (
        <Group gap="xs" mb="md">
          <Text size="sm" c="dimmed" role="status">
            {words.tried}
          </Text>
          {mayKeep ? (
            <Button size="compact-sm" loading={saving.isPending} onClick={() => saving.mutate(defaults)}>
              {words.keep}
            </Button>
          ) : null}
          <Button size="compact-sm" variant="subtle" onClick={reset}>
            {words.reset}
          </Button>
        </Group>
      ) : null}
      <FormError error={saving.error} />
    </>
  )
}
