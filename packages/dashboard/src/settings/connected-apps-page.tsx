import { Group, Stack, Text } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf, useOperation } from '../api/operation.ts'
import type { ConnectedApp } from '../api/types.ts'
import { useMay, useMe } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import type { Column } from '../ui/data-table.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { Foreign, isolated, Moment } from '../ui/text.tsx'
import { RedactionBadge, ScopeBadges, ToolsBadge } from './scope-badges.tsx'
import classes from './settings-table.module.css'
import { text as texts } from './text.ts'
import { ToolsButton } from './tools-button.tsx'

const text = texts.connectedApps

/** Rows per page. */
const APPS_LENGTH = 50

const route = getRouteApi('/shell/settings/connected-apps')

/** The applications that act for people in the workspace. */
export function ConnectedAppsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { user } = useMe()
  const mayRevokeAll = useMay('settings:write')
  return (
    <ListPage
      title={text.title}
      description={text.description}
      label={text.title}
      query={useQuery(queryOf('listConnectedApps', { page, limit: APPS_LENGTH }))}
      rowsOf={({ connected_apps: apps }) => apps}
      rowKey={({ grant_id }) => grant_id}
      columns={columnsWith(user.user_id, mayRevokeAll)}
      empty={{
        icon: IconPlugConnected,
        title: text.empty,
        hint: text.explanation(`${window.location.origin}/mcp`),
      }}
      paging={{ page, limit: APPS_LENGTH, onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }) }}
    />
  )
}

function columnsWith(ownId: string, mayRevokeAll: boolean): Column<ConnectedApp>[] {
  return [
    {
      id: 'name',
      header: text.name,
      cell: ({ name, redirect_host: host }) => (
        <Stack gap={0} className={classes.name}>
          <Text size="sm" fw={550}>
            <Foreign max={80}>{name}</Foreign>
          </Text>
          <Text size="xs" c="dimmed">
            <Foreign max={80}>{host}</Foreign>
          </Text>
        </Stack>
      ),
    },
    {
      id: 'person',
      header: text.person,
      visibleFrom: 'xs',
      cell: ({ user }) => (
        <Text size="sm">
          <Foreign max={80}>{user.name}</Foreign>
          {user.user_id === ownId ? ` (${text.you})` : null}
        </Text>
      ),
    },
    { id: 'scopes', header: text.scopes, visibleFrom: 'lg', cell: ({ scopes }) => <ScopeBadges scopes={scopes} /> },
    {
      id: 'personal',
      header: text.personal,
      visibleFrom: 'sm',
      cell: ({ redact_personal_data: redacts }) => <RedactionBadge redacts={redacts} />,
    },
    { id: 'tools', header: texts.tools.header, visibleFrom: 'xl', cell: ({ tools }) => <ToolsBadge tools={tools} /> },
    {
      id: 'used',
      header: text.lastUsed,
      visibleFrom: 'md',
      cell: ({ last_used_at: at }) => (at === null ? text.never : <Moment at={at} c="dimmed" />),
    },
    {
      id: 'created',
      header: text.created,
      visibleFrom: 'lg',
      cell: ({ created_at: at }) => <Moment at={at} c="dimmed" />,
    },
    {
      id: 'actions',
      header: text.actions,
      align: 'right',
      cell: (app) => (mayRevokeAll || app.user.user_id === ownId ? <Actions app={app} /> : null),
    },
  ]
}

function Actions({ app: { grant_id, name, user, scopes, tools } }: { app: ConnectedApp }) {
  const changing = useOperation('updateConnectedApp')
  const revoking = useOperation('revokeConnectedApp')
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <ToolsButton
        name={name}
        scopes={scopes}
        tools={tools}
        onSave={(chosen) => changing.mutateAsync({ grant_id, tools: chosen })}
      />
      <ConfirmButton
        size="xs"
        title={text.revoke.title}
        explanation={text.revoke.explanation(isolated(name), isolated(user.name.slice(0, 80)))}
        confirmLabel={text.revoke.confirm}
        onConfirm={() => revoking.mutateAsync({ grant_id })}
        aria-label={text.revoke.label(name)}
      >
        {text.revoke.button}
      </ConfirmButton>
    </Group>
  )
}
