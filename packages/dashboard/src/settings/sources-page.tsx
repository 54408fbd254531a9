import { Badge, Button, Code, Text } from '@mantine/core'
import { IconPlugConnected, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { Source } from '../api/types.ts'
import { useIsAtLeast } from '../session/may.ts'
import type { Column } from '../ui/data-table.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { NewSourceDialog } from './new-source.tsx'
import classes from './settings-table.module.css'
import { SourceMenu } from './source-menu.tsx'
import { text } from './sources-text.ts'

/** Rows per page. */
const SOURCES_LENGTH = 50

const route = getRouteApi('/shell/settings/sources')

/** What sends data to the workspace. */
export function SourcesPage() {
  const { page = 1, dialog = false } = route.useSearch()
  const navigate = route.useNavigate()
  const isAdmin = useIsAtLeast('admin')
  const show = (changes: { dialog?: true }) =>
    navigate({ search: ({ page: shown }) => ({ page: shown, ...changes }), replace: true })
  const create = isAdmin ? (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => show({ dialog: true })}>
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
        query={useQuery(queryOf('listSources', { page, limit: SOURCES_LENGTH }))}
        rowsOf={({ sources }) => sources}
        rowKey={({ source_id }) => source_id}
        columns={isAdmin ? [...COLUMNS, ACTIONS] : COLUMNS}
        empty={{ icon: IconPlugConnected, title: text.empty, hint: text.explanation }}
        paging={{
          page,
          limit: SOURCES_LENGTH,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
      {isAdmin && dialog ? <NewSourceDialog onClose={() => show({})} /> : null}
    </>
  )
}

const COLORS = { browser: 'blue', server: 'green', connector: 'gray' } as const

const COLUMNS: Column<Source>[] = [
  {
    id: 'name',
    header: text.name,
    cell: ({ name }) => (
      <Text size="sm" fw={550} className={classes.name}>
        <Foreign max={80}>{name}</Foreign>
      </Text>
    ),
  },
  {
    id: 'type',
    header: text.type,
    visibleFrom: 'xs',
    cell: ({ type }) => <Badge color={COLORS[type]}>{text.types[type]}</Badge>,
  },
  {
    id: 'key',
    header: text.key,
    visibleFrom: 'md',
    cell: ({ key_hint: hint }) => (hint === null ? <None /> : <Code>{text.hint(hint)}</Code>),
  },
  {
    id: 'seen',
    header: text.lastSeen,
    cell: ({ last_seen_at: at }) => (at === null ? text.never : <Moment at={at} c="dimmed" />),
  },
  {
    id: 'events',
    header: text.events,
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ events_last_day: events }) => (events === null ? <None /> : text.count(events)),
  },
  {
    id: 'created',
    header: text.created,
    visibleFrom: 'lg',
    cell: ({ created_at: at }) => <Moment at={at} c="dimmed" />,
  },
]

const ACTIONS: Column<Source> = {
  id: 'actions',
  header: text.actions,
  align: 'right',
  cell: (source) => <SourceMenu source={source} />,
}
