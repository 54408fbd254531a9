import { Badge, Button, Group, Text } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ApiKey, chooseKeyTools, KEYS_LENGTH, keysQuery, refreshKeys, revokeApiKey } from '../api/keys.ts'
import { useIsAtLeast } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, isolated, Moment, None } from '../ui/text.tsx'
import { NewKeyDialog } from './new-key.tsx'
import { RedactionBadge, ScopeBadges, ToolsBadge } from './scope-badges.tsx'
import classes from './settings-table.module.css'
import { text } from './text.ts'
import { ToolsButton } from './tools-button.tsx'

const route = getRouteApi('/shell/settings/keys')

/** The workspace's API keys. */
export function KeysPage() {
  const queryClient = useQueryClient()
  const { page = 1, dialog = false } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, isPlaceholderData, refetch } = useQuery(keysQuery(page, KEYS_LENGTH))
  const isAdmin = useIsAtLeast('admin')
  const show = (changes: { dialog?: true }) =>
    navigate({ search: ({ page: shown }) => ({ page: shown, ...changes }), replace: true })
  const create = isAdmin ? (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => show({ dialog: true })}>
      {text.keys.create.button}
    </Button>
  ) : null
  const revoke = async (keyId: string) => {
    await revokeApiKey(keyId)
    await refreshKeys(queryClient)
  }
  const chooseTools = async (keyId: string, tools: string[]) => {
    await chooseKeyTools(keyId, tools)
    await refreshKeys(queryClient)
  }
  return (
    <>
      <PageHeader title={text.keys.title} description={text.keys.description} actions={create} />
      <DataTable
        label={text.keys.title}
        columns={columnsWith(revoke, chooseTools)}
        rows={data?.keys}
        rowKey={({ key_id }) => key_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconKey} title={text.keys.empty} action={create}>
            {text.keys.explanation}
          </EmptyState>
        }
        paging={{
          page,
          limit: KEYS_LENGTH,
          total: data?.pagination.total_items ?? 0,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
      {isAdmin ? <NewKeyDialog isOpen={dialog} onClose={() => show({})} /> : null}
    </>
  )
}

function columnsWith(
  revoke: (keyId: string) => Promise<unknown>,
  chooseTools: (keyId: string, tools: string[]) => Promise<unknown>,
): Column<ApiKey>[] {
  return [
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
      cell: (key) =>
        stateOf(key) === 'revoked' ? null : (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            <ToolsButton
              name={key.name.slice(0, 80)}
              scopes={key.scopes}
              tools={key.tools}
              onSave={(tools) => chooseTools(key.key_id, tools)}
            />
            <ConfirmButton
              size="xs"
              title={text.keys.revoke.title}
              explanation={text.keys.revoke.explanation(isolated(key.name.slice(0, 80)))}
              confirmLabel={text.keys.revoke.confirm}
              onConfirm={() => revoke(key.key_id)}
              aria-label={text.keys.revoke.label(key.name.slice(0, 80))}
            >
              {text.keys.revoke.button}
            </ConfirmButton>
          </Group>
        ),
    },
  ]
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
