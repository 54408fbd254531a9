import { ActionIcon, Menu, Text } from '@mantine/core'
import { IconBell, IconDots, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Alert } from '../api/types.ts'
import { InsightHeader } from '../insights/insight-frame.tsx'
import { SampleMark } from '../insights/sample.tsx'
import { useMay } from '../session/may.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import type { Column } from '../ui/data-table.tsx'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { List } from '../ui/list-page.tsx'
import { Foreign, isolated } from '../ui/text.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { conditionWords, figureWords, isPartOf } from './alert-draft.ts'
import { AlertState } from './alert-state.tsx'
import { text } from './text.ts'

/** Rows per page. */
const ALERTS_LENGTH = 50

const route = getRouteApi('/shell/insights/alerts')

/** The numbers that are watched. */
export function AlertsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const alerts = useQuery(queryOf('listAlerts', { page, limit: ALERTS_LENGTH }))
  const mayChange = useMay('segments:write')
  const create = mayChange ? (
    <ButtonLink to="/insights/alerts/new" variant="light" size="xs">
      {text.create}
    </ButtonLink>
  ) : null
  return (
    <>
      <InsightHeader tab="alerts" actions={create} />
      <List
        label={text.table}
        query={alerts}
        rowsOf={(data) => data.alerts}
        rowKey={({ alert_id }) => alert_id}
        columns={mayChange ? [...COLUMNS, MENU] : COLUMNS}
        empty={{ icon: IconBell, title: text.empty, hint: text.emptyHint }}
        paging={{
          page,
          limit: ALERTS_LENGTH,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </>
  )
}

const COLUMNS: Column<Alert>[] = [
  {
    id: 'name',
    header: text.columns.name,
    cell: ({ alert_id: alertId, name }) => (
      <AnchorLink fw={550} inherit to="/insights/alerts/$alertId" params={{ alertId }}>
        <Foreign max={120}>{name}</Foreign>
      </AnchorLink>
    ),
  },
  { id: 'state', header: text.columns.state, cell: ({ state }) => <AlertState state={state} /> },
  {
    id: 'report',
    header: text.columns.report,
    visibleFrom: 'md',
    cell: ({ report_name: name }) => <Foreign max={120}>{name}</Foreign>,
  },
  { id: 'fires', header: text.columns.fires, visibleFrom: 'sm', cell: conditionWords },
  {
    id: 'value',
    header: text.columns.value,
    align: 'right',
    visibleFrom: 'sm',
    cell: (alert) => (
      <>
        {figureWords(alert.last_value, isPartOf(alert))}
        <SampleMark answer={alert} />
      </>
    ),
  },
]

const MENU: Column<Alert> = {
  id: 'menu',
  header: text.columns.actions,
  align: 'right',
  cell: (alert) => <AlertMenu alert={alert} />,
}

/** Turns an alert on or off, or deletes it. */
function AlertMenu({ alert: { alert_id, name, enabled } }: { alert: Alert }) {
  const { button, afterFocus } = useMenuButton()
  const [isDeleting, setDeleting] = useState(false)
  const update = useOperation('updateAlert')
  const remove = useOperation('deleteAlert')
  const Icon = enabled ? IconPlayerPause : IconPlayerPlay
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon ref={button} variant="subtle" color="gray" aria-label={text.more(name.slice(0, 80))}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<Icon size={16} aria-hidden />}
            onClick={() => update.mutate({ alert_id, enabled: !enabled })}
          >
            {enabled ? text.turnOff : text.turnOn}
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={afterFocus(() => setDeleting(true))}
          >
            {text.remove.menu}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        title={text.remove.title(isolated(name.slice(0, 80)))}
        explanation={<Text size="sm">{text.remove.explanation}</Text>}
        confirmLabel={text.remove.menu}
        onConfirm={() => remove.mutateAsync({ alert_id })}
      />
    </>
  )
}
