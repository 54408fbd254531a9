import { ActionIcon, Menu, Text } from '@mantine/core'
import {
  IconBell,
  IconDots,
  IconLayoutDashboard,
  IconLink,
  IconPencil,
  IconReportAnalytics,
  IconTrash,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Report } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import type { Column } from '../ui/data-table.tsx'
import { RenameDialog } from '../ui/form-dialog.tsx'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { List } from '../ui/list-page.tsx'
import { Foreign, isolated, Moment } from '../ui/text.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { AddDialog } from './dashboards/add-to-dashboard.tsx'
import { text as dashboardWords } from './dashboards/text.ts'
import { InsightHeader } from './insight-frame.tsx'
import { KIND_PATHS } from './kind-paths.ts'
import { ShareDialog } from './shared/share-dialog.tsx'
import { text as shareText } from './shared/text.ts'
import { text } from './text.ts'

const words = text.reports
/** Rows per page. */
const REPORTS_LENGTH = 50

const route = getRouteApi('/shell/insights/reports')

/** The questions that were saved. */
export function ReportsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const reports = useQuery(queryOf('listReports', { page, limit: REPORTS_LENGTH }))
  const mayChange = useMay('segments:write')
  return (
    <>
      <InsightHeader tab="reports" />
      <List
        label={words.table}
        query={reports}
        rowsOf={(data) => data.reports}
        rowKey={({ report_id }) => report_id}
        columns={mayChange ? [...COLUMNS, MENU] : COLUMNS}
        empty={{
          icon: IconReportAnalytics,
          title: words.empty,
          hint: words.emptyHint,
          action: (
            <ButtonLink to="/insights" variant="light">
              {words.ask}
            </ButtonLink>
          ),
        }}
        paging={{
          page,
          limit: REPORTS_LENGTH,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </>
  )
}

const COLUMNS: Column<Report>[] = [
  {
    id: 'name',
    header: words.name,
    cell: ({ name, kind, question, shared_at }) => (
      <>
        <AnchorLink fw={550} inherit to={KIND_PATHS[kind]} search={{ question: JSON.stringify(question) }}>
          <Foreign max={120}>{name}</Foreign>
        </AnchorLink>
        {shared_at === null ? null : (
          <IconLink size={14} role="img" aria-label={shareText.isShared} style={{ marginInlineStart: 6 }} />
        )}
      </>
    ),
  },
  { id: 'kind', header: words.kind, cell: ({ kind }) => text.kinds[kind] },
  {
    id: 'updated_at',
    header: words.changed,
    visibleFrom: 'sm',
    cell: ({ updated_at: at }) => <Moment at={at} c="dimmed" />,
  },
]

const MENU: Column<Report> = {
  id: 'menu',
  header: words.actions,
  align: 'right',
  cell: (report) => <ReportMenu report={report} />,
}

/** What can be done with a report. */
function ReportMenu({ report: { report_id, name, kind, shared_at } }: { report: Report }) {
  const { button, afterFocus } = useMenuButton()
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<'add' | 'share' | 'rename' | 'delete' | null>(null)
  const close = () => setDialog(null)
  const renaming = useOperation('updateReport', { onDone: close })
  const remove = useOperation('deleteReport')
  const shown = isolated(name.slice(0, 80))
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon ref={button} variant="subtle" color="gray" aria-label={words.more(name.slice(0, 80))}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconLayoutDashboard size={16} aria-hidden />}
            onClick={afterFocus(() => setDialog('add'))}
          >
            {dashboardWords.add.button}
          </Menu.Item>
          {kind === 'paths' ? null : (
            <Menu.Item
              leftSection={<IconBell size={16} aria-hidden />}
              onClick={() => navigate({ to: '/insights/alerts/new', search: { report: report_id } })}
            >
              {words.alert}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconLink size={16} aria-hidden />} onClick={afterFocus(() => setDialog('share'))}>
            {shareText.dialog.menu}
          </Menu.Item>
          <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={afterFocus(() => setDialog('rename'))}>
            {words.rename.menu}
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={afterFocus(() => setDialog('delete'))}
          >
            {words.remove.menu}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'add' ? <AddDialog added={{ reportId: report_id }} onClose={close} /> : null}
      {dialog === 'share' ? (
        <ShareDialog shared={{ report_id }} name={name} sharedAt={shared_at} onClose={close} />
      ) : null}
      {dialog === 'rename' ? (
        <RenameDialog
          title={words.rename.title(shown)}
          submit={words.rename.submit}
          name={name}
          sending={renaming}
          onRename={(typed) => renaming.mutate({ report_id, name: typed })}
          onClose={close}
        />
      ) : null}
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title={words.remove.title(shown)}
        explanation={<Text size="sm">{words.remove.explanation}</Text>}
        confirmLabel={words.remove.menu}
        onConfirm={() => remove.mutateAsync({ report_id })}
      />
    </>
  )
}
