import { Button, Flex, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { OAuthClient } from '../api/types.ts'
import { ClientDialog } from '../providers/client-dialog.tsx'
import { text as texts } from '../providers/text.ts'
import { useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'

const text = texts.clients

/** The OAuth client of the workspace at each provider. */
export function OAuthClientsPage() {
  const mayWrite = useMay('settings:write')
  const { data, error, refetch } = useQuery(queryOf('listOAuthClients'))
  const [edited, setEdited] = useState<OAuthClient | null>(null)
  const removing = useOperation('deleteOAuthClient')
  const remove = (provider: string) => removing.mutateAsync({ provider })
  return (
    <>
      <PageHeader title={text.title} description={text.description} />
      <DataTable
        label={text.title}
        columns={mayWrite ? [...COLUMNS, actions(setEdited, remove)] : COLUMNS}
        rows={data?.oauth_clients}
        rowKey={({ provider }) => provider}
        error={error}
        onRetry={refetch}
        empty={null}
      />
      {edited ? <ClientDialog client={edited} onSaved={() => setEdited(null)} onClose={() => setEdited(null)} /> : null}
    </>
  )
}

const COLUMNS: Column<OAuthClient>[] = [
  { id: 'provider', header: text.provider, cell: ({ label }) => label },
  {
    id: 'client',
    header: text.clientId,
    cell: ({ client_id: id, origin }) =>
      id === null ? (
        <Text size="sm" c="dimmed">
          {text.none}
        </Text>
      ) : (
        <>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            <Foreign max={60}>{id}</Foreign>
          </Text>
          {origin === 'operator' ? (
            <Text size="xs" c="dimmed">
              {text.ofOperator}
            </Text>
          ) : null}
        </>
      ),
  },
  {
    id: 'changed',
    header: text.changed,
    visibleFrom: 'sm',
    cell: ({ updated_at: at }) => (at === null ? <None /> : <Moment at={at} c="dimmed" />),
  },
]

function actions(
  onEdit: (client: OAuthClient) => void,
  onDelete: (provider: string) => Promise<unknown>,
): Column<OAuthClient> {
  return {
    id: 'actions',
    header: text.actions,
    align: 'right',
    cell: (client) => {
      const { provider, label, origin } = client
      const isOwn = origin === 'workspace'
      return (
        <Flex direction={{ base: 'column', sm: 'row' }} gap="xs" justify="flex-end" align="flex-end">
          <Button
            size="xs"
            variant="default"
            aria-label={isOwn ? text.change(label) : text.set(label)}
            onClick={() => onEdit(client)}
          >
            {isOwn ? text.changeShort : text.setShort}
          </Button>
          {isOwn ? (
            <ConfirmButton
              size="xs"
              aria-label={text.deleteOf(label)}
              title={text.deleteTitle(label)}
              explanation={text.deleteExplanation}
              confirmLabel={text.deleteConfirm}
              onConfirm={() => onDelete(provider)}
            >
              {text.delete}
            </ConfirmButton>
          ) : null}
        </Flex>
      )
    },
  }
}
