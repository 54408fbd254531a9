import { Badge, Group, Text } from '@mantine/core'
import { IconSearch, IconUserCircle } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import {
  createIdentity,
  IDENTITIES_LENGTH,
  type Identity,
  identitiesQuery,
  identityName,
  refreshIdentities,
} from '../api/identities.ts'
import { useMay } from '../session/may.ts'
import { CreateDialog } from '../ui/create-dialog.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatDay } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, None } from '../ui/text.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/identities')

/** The senders of agents' messages. */
export function IdentitiesPage() {
  const { page = 1, search } = route.useSearch()
  const navigate = route.useNavigate()
  const queryClient = useQueryClient()
  const query = identitiesQuery({ page, limit: IDENTITIES_LENGTH, search })
  const { data, error, isPlaceholderData, refetch } = useQuery(query)
  const total = data?.pagination.total_items ?? 0
  const add = async ({ firstName = '', lastName = '', role = '' }: Record<string, string>) => {
    const { identity } = await createIdentity({ firstName, lastName, role })
    await refreshIdentities(queryClient)
    await navigate({ to: '/identities/$identityId', params: { identityId: identity.identity_id } })
  }
  const create = useMay('identities:write') ? (
    <CreateDialog
      title={text.create}
      fields={[
        { name: 'firstName', label: text.fields.firstName, required: true },
        { name: 'lastName', label: text.fields.lastName, required: true },
        { name: 'role', label: text.fields.role, required: true },
      ]}
      onCreate={add}
    />
  ) : null
  return (
    <>
      <PageHeader title={text.title} description={text.description} actions={create} />
      {search !== undefined || total > IDENTITIES_LENGTH ? (
        <Group mb="md">
          <SearchField
            value={search}
            placeholder={text.search}
            onSearch={(words) => navigate({ search: words === undefined ? {} : { search: words }, replace: true })}
          />
        </Group>
      ) : null}
      <DataTable
        label={text.title}
        opensRows
        columns={COLUMNS}
        rows={data?.identities}
        rowKey={({ identity_id }) => identity_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          search !== undefined ? (
            <EmptyState icon={IconSearch} title={text.noMatch} />
          ) : (
            <EmptyState icon={IconUserCircle} title={text.none} action={create}>
              {text.noneHint}
            </EmptyState>
          )
        }
        paging={{
          page,
          limit: IDENTITIES_LENGTH,
          total,
          onPage: (next) => navigate({ search: (before) => ({ ...before, page: next === 1 ? undefined : next }) }),
        }}
      />
    </>
  )
}

const COLUMNS: Column<Identity>[] = [
  {
    id: 'name',
    header: text.columns.name,
    cell: (identity) => (
      <>
        <AnchorLink fw={550} inherit to="/identities/$identityId" params={{ identityId: identity.identity_id }}>
          <Foreign max={120}>{identityName(identity)}</Foreign>
        </AnchorLink>
        <Text size="xs" c="dimmed">
          <Foreign max={120}>{identity.jobTitle ?? identity.role}</Foreign>
        </Text>
      </>
    ),
  },
  {
    id: 'email',
    header: text.columns.mailbox,
    cell: ({ email_account: { address, connected } }) =>
      address === null ? (
        <None />
      ) : (
        <>
          <Foreign max={120}>{address}</Foreign> {connected ? null : <Badge color="red">{text.loginFails}</Badge>}
        </>
      ),
  },
  {
    id: 'social',
    header: text.columns.social,
    visibleFrom: 'sm',
    cell: ({ social: { connected, profile_id } }) => {
      if (connected) return <Badge color="teal">{text.connected}</Badge>
      return profile_id === null ? <None /> : <Badge color="orange">{text.logInAgain}</Badge>
    },
  },
  {
    id: 'created_at',
    header: text.columns.created,
    visibleFrom: 'md',
    cell: ({ created_at: at }) => formatDay(at),
  },
]
