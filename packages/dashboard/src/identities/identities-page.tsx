import { Badge, Group, Text } from '@mantine/core'
import { IconSearch, IconUserCircle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Identity } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { CreateDialog } from '../ui/create-dialog.tsx'
import type { Column } from '../ui/data-table.tsx'
import { formatDay } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Foreign, None } from '../ui/text.tsx'
import { identityName } from './identity-name.ts'
import { text } from './text.ts'

const route = getRouteApi('/shell/identities')
/** Rows per page. */
const IDENTITIES_LENGTH = 50

/** The senders of agents' messages. */
export function IdentitiesPage() {
  const { page = 1, search } = route.useSearch()
  const navigate = route.useNavigate()
  const identities = useQuery(queryOf('listIdentities', { page, limit: IDENTITIES_LENGTH, search }))
  const isLong = (identities.data?.pagination.total_items ?? 0) > IDENTITIES_LENGTH
  const creating = useOperation('createIdentity', {
    onDone: ({ identity }) => navigate({ to: '/identities/$identityId', params: { identityId: identity.identity_id } }),
  })
  const create = useMay('identities:write') ? (
    <CreateDialog
      title={text.create}
      fields={[
        { name: 'firstName', label: text.fields.firstName, required: true },
        { name: 'lastName', label: text.fields.lastName, required: true },
        { name: 'role', label: text.fields.role, required: true },
      ]}
      onCreate={({ firstName = '', lastName = '', role = '' }) => creating.mutateAsync({ firstName, lastName, role })}
    />
  ) : null
  return (
    <ListPage
      title={text.title}
      description={text.description}
      create={create}
      bar={
        search !== undefined || isLong ? (
          <Group mb="md">
            <SearchField
              value={search}
              placeholder={text.search}
              onSearch={(words) => navigate({ search: words === undefined ? {} : { search: words }, replace: true })}
            />
          </Group>
        ) : null
      }
      label={text.title}
      opensRows
      query={identities}
      rowsOf={(data) => data.identities}
      rowKey={({ identity_id }) => identity_id}
      columns={COLUMNS}
      empty={
        search === undefined
          ? { icon: IconUserCircle, title: text.none, hint: text.noneHint }
          : { icon: IconSearch, title: text.noMatch, hint: null, action: null }
      }
      paging={{
        page,
        limit: IDENTITIES_LENGTH,
        onPage: (next) => navigate({ search: (before) => ({ ...before, page: next === 1 ? undefined : next }) }),
      }}
    />
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
