import { Badge, Button, Group, Text } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf, useOperation } from '../api/operation.ts'
import type { ApiKey } from '../api/types.ts'
import { useIsAtLeast } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import type { Column } from '../ui/data-table.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { Foreign, isolated, Moment, None } from '../ui/text.tsx'
import { NewKeyDialog } from './new-key.tsx'
import { RedactionBadge, ScopeBadges, ToolsBadge } from './scope-badges.tsx'
import classes from './settings-table.module.css'
import { text } from './text.ts'
import { ToolsButton } from './tools-button.tsx'

/** Rows per page. */
const KEYS_LENGTH = 50

const route = getRouteApi('/shell/settings/keys')

/** The workspace's API keys. */
export function KeysPage() {
  const { page = 1, dialog = false } = route.useSearch()
  const navigate = route.useNavigate()
  const isAdmin = useIsAtLeast('admin')
  const show = (changes: { dialog?: true }) =>
    navigate({ search: ({ page: shown }) => ({ page: shown, ...changes }), replace: true })
  const create = isAdmin ? (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => show({ dialog: true })}>
      {text.keys.create.button}
    </Button>
  ) : null
  return (
    <>
      <ListPage
        title={text.keys.title}
        description={text.keys.description}
        create={create}
        label={text.keys.title}
        query={useQuery(queryOf('listApiKeys', { page, limit: KEYS_LENGTH }))}
        rowsOf={({ keys }) => keys}
        rowKey={({ key_id }) => key_id}
        columns={COLUMNS}
        empty={{ icon: IconKey, title: text.keys.empty, hint: text.keys.explanation }}
        paging={{ page, limit: KEYS_LENGTH, onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }) }}
      />
      {isAdmin && dialog ? <NewKeyDialog onClose={() => show({})} /> : null}
    </>
  )
}

const COLUMNS: Column<ApiKey>[] = [
  {
    id: 'name',
    header: text.keys.name,
    cell: ({ name }) => (
      <Text size="sm" fw={550} className={classes.name}>
        <Foreign max={80}>{name}</Foreign>
      </Text>
    ),
  },
  { id: 'state', header: text.keys.status, cell: (key) => <KeyState apiKey={key} /> },
  {
    id: 'scopes',
    header: text.keys.scopes,
    visibleFrom: 'md',
    cell: ({ scopes }) => <ScopeBadges scopes={scopes} />,
  },
  {
    id: 'personal',
    header: text.keys.personal.header,
    visibleFrom: 'lg',
    cell: ({ redact_personal_data: redacts, mcp_only: isMcpOnly }) => (
      <RedactionBadge redacts={redacts} isMcpOnly={isMcpOnly} />
    ),
  },
  { id: 'tools', header: text.tools.header, visibleFrom: 'xl', cell: ({ tools }) => <ToolsBadge tools={tools} /> },
  {
    id: 'used',
    header: text.keys.lastUsed,
    visibleFrom: 'sm',
    cell: ({ last_used_at: at }) => (at === null ? <None /> : <Moment at={at} c="dimmed" />),
  },
  {
    id: 'expires',
    header: text.keys.expires,
    visibleFrom: 'lg',
    cell: ({ expires_at: at }) => (at === null ? text.keys.never : <Moment at={at} c="dimmed" />),
  },
  {
    id: 'created',
    header: text.keys.created,
    visibleFrom: 'lg',
    cell: ({ created_at: at }) => <Moment at={at} c="dimmed" />,
  },
  {
    id: 'actions',
    header: text.keys.actions,
    align: 'right',
    cell: (key) => (stateOf(key) === 'revoked' ? null : <Actions apiKey={key} />),
  },
]

function Actions({ apiKey: { key_id, name, scopes, tools } }: { apiKey: ApiKey }) {
  const changing = useOperation('updateApiKey')
  const revoking = useOperation('revokeApiKey')
  const shown = name.slice(0, 80)
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <ToolsButton
        name={shown}
        scopes={scopes}
        tools={tools}
        onSave={(chosen) => changing.mutateAsync({ key_id, tools: chosen })}
      />
      <ConfirmButton
        size="xs"
        title={text.keys.revoke.title}
        explanation={text.keys.revoke.explanation(isolated(shown))}
        confirmLabel={text.keys.revoke.confirm}
        onConfirm={() => revoking.mutateAsync({ key_id })}
        aria-label={text.keys.revoke.label(shown)}
      >
        {text.keys.revoke.button}
      </ConfirmButton>
    </Group>
  )
}

const COLORS = { live: 'green', expired: 'gray', revoked: 'red' } as const

function stateOf({ revoked_at: revoked, expires_at: expires }: ApiKey): keyof typeof COLORS {
  if (revoked !== null) return 'revoked'
  return expires !== null && new Date(expires).getTime() <= Date.now() ? 'expired' : 'live'
}

function KeyState({ apiKey }: { apiKey: ApiKey }) {
  const state = stateOf(apiKey)
  return <Badge color={COLORS[state]}>{text.keys.states[state]}</Badge>
}
