import { Group, Stack, Text } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import {
  APPS_LENGTH,
  type ConnectedApp,
  chooseAppTools,
  connectedAppsQuery,
  refreshConnectedApps,
  revokeConnectedApp,
} from '../api/connected-apps.ts'
import { useMay, useMe } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, isolated, Moment } from '../ui/text.tsx'
import { RedactionBadge, ScopeBadges, ToolsBadge } from './scope-badges.tsx'
import classes from './settings-table.module.css'
import { text as texts } from './text.ts'
import { ToolsButton } from './tools-button.tsx'

const text = texts.connectedApps

const route = getRouteApi('/shell/settings/connected-apps')

/** The applications that act for people in the workspace. */
export function ConnectedAppsPage() {
  const queryClient = useQueryClient()
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { user } = useMe()
  const mayRevokeAll = useMay('settings:write')
  const { data, error, isPlaceholderData, refetch } = useQuery(connectedAppsQuery(page, APPS_LENGTH))
  const revoke = async (grantId: string) => {
    await revokeConnectedApp(grantId)
    await refreshConnectedApps(queryClient)
  }
  const chooseTools = async (grantId: string, tools: string[]) => {
    await chooseAppTools(grantId, tools)
    await refreshConnectedApps(queryClient)
  }
  return (
    <>
      <PageHeader title={text.title} description={text.description} />
      <DataTable
        label={text.title}
        columns={columnsWith(user.user_id, mayRevokeAll, revoke, chooseTools)}
        rows={data?.connected_apps}
        rowKey={({ grant_id }) => grant_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconPlugConnected} title={text.empty}>
            {text.explanation(`${window.location.origin}/mcp`)}
          </EmptyState>
        }
        paging={{
          page,
          limit: APPS_LENGTH,
          total: data?.pagination.total_items ?? 0,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </>
  )
}

function columnsWith(
  ownId: string,
  mayRevokeAll: boolean,
  revoke: (grantId: string) => Promise<unknown>,
  chooseTools: (grantId: string, tools: string[]) => Promise<unknown>,
): Column<ConnectedApp>[] {
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
      cell: ({ grant_id: id, name, user, scopes, tools }) =>
        mayRevokeAll || user.user_id === ownId ? (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            <ToolsButton name={name} scopes={scopes} tools={tools} onSave={(chosen) => chooseTools(id, chosen)} />
            <ConfirmButton
              size="xs"
              title={text.revoke.title}
              explanation={text.revoke.explanation(isolated(name), isolated(user.name.slice(0, 80)))}
              confirmLabel={text.revoke.confirm}
              onConfirm={() => revoke(id)}
              aria-label={text.revoke.label(name)}
            >
              {text.revoke.button}
            </ConfirmButton>
          </Group>
        ) : null,
    },
  ]
}
