import { Badge, Group, Text, Tooltip } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type Key, keysQuery, refreshKeys, revokeKey } from '../api/keys.ts'
import { useIsAtLeast } from '../app/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { NewKeyButton } from './new-key.tsx'
import { PAGE_LENGTH } from './page-lengths.ts'
import classes from './settings-table.module.css'

const route = getRouteApi('/shell/settings/keys')

/** The tenant's API keys. */
export function KeysPage() {
  const queryClient = useQueryClient()
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, isPlaceholderData, refetch } = useQuery(keysQuery(page, PAGE_LENGTH))
  const create = useIsAtLeast('admin') ? <NewKeyButton /> : null
  const revoke = async (keyId: string) => {
    await revokeKey(keyId)
    await refreshKeys(queryClient)
  }
  return (
    <>
      <PageHeader
        title="API keys"
        description="Each key gives one of your programs access to the API, limited by its scopes."
        actions={create}
      />
      <DataTable
        label="API keys"
        columns={columnsWith(revoke)}
        rows={data?.keys}
        rowKey={({ key_id }) => key_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconKey} title="No API keys yet" action={create}>
            Your servers need one to send contacts and events, or to read data.
          </EmptyState>
        }
        paging={{
          page,
          limit: PAGE_LENGTH,
          total: data?.pagination.total_items ?? 0,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </>
  )
}

function columnsWith(revoke: (keyId: string) => Promise<unknown>): Column<Key>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      cell: ({ name }) => (
        <Text size="sm" fw={550} className={classes.name}>
          <Foreign max={80}>{name}</Foreign>
        </Text>
      ),
    },
    { id: 'state', header: 'Status', cell: (key) => <KeyState apiKey={key} /> },
    { id: 'scopes', header: 'Scopes', visibleFrom: 'md', cell: ({ scopes }) => <Scopes scopes={scopes} /> },
    {
      id: 'used',
      header: 'Last used',
      visibleFrom: 'sm',
      cell: ({ last_used_at: at }) => (at === null ? <None /> : <Moment at={at} c="dimmed" />),
    },
    {
      id: 'expires',
      header: 'Expires',
      visibleFrom: 'lg',
      cell: ({ expires_at: at }) => (at === null ? 'never' : <Moment at={at} c="dimmed" />),
    },
    {
      id: 'created',
      header: 'Created',
      visibleFrom: 'lg',
      cell: ({ created_at: at }) => <Moment at={at} c="dimmed" />,
    },
    {
      id: 'actions',
      header: 'Actions',
      align: 'right',
      cell: (key) =>
        stateOf(key) === 'revoked' ? null : (
          <ConfirmButton
            size="xs"
            title="Revoke the key?"
            explanation={
              <>
                Requests with <Foreign max={80}>{key.name}</Foreign> will be rejected, and the invitations that it
                created are revoked. This cannot be undone.
              </>
            }
            confirmLabel="Revoke key"
            onConfirm={() => revoke(key.key_id)}
            aria-label={`Revoke ${key.name.slice(0, 80)}`}
          >
            Revoke
          </ConfirmButton>
        ),
    },
  ]
}

const COLORS = { live: 'green', expired: 'gray', revoked: 'red' } as const

function stateOf({ revoked_at: revoked, expires_at: expires }: Key): keyof typeof COLORS {
  if (revoked !== null) return 'revoked'
  return expires !== null && new Date(expires).getTime() <= Date.now() ? 'expired' : 'live'
}

function KeyState({ apiKey }: { apiKey: Key }) {
  const state = stateOf(apiKey)
  return <Badge color={COLORS[state]}>{state}</Badge>
}

const SCOPES_SHOWN = 2

/** The first scopes; hover, focus and screen readers get all of them. */
function Scopes({ scopes }: { scopes: string[] }) {
  const more = scopes.slice(SCOPES_SHOWN)
  return (
    <Group gap={4}>
      {scopes.slice(0, SCOPES_SHOWN).map((scope) => (
        <Badge key={scope} color="gray">
          {scope}
        </Badge>
      ))}
      {more.length > 0 ? (
        <Tooltip label={more.join(', ')} multiline maw={320}>
          {/* Focusable, because the keyboard has no other way to the other scopes. */}
          <Badge color="gray" tabIndex={0} role="note" aria-label={`and ${more.join(', ')}`}>
            +{more.length}
          </Badge>
        </Tooltip>
      ) : null}
    </Group>
  )
}
