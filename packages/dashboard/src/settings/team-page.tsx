import { Badge, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Member } from '../api/types.ts'
import { rolesToGive, useIsAtLeast, useMe } from '../session/may.ts'
import type { Role } from '../session/session.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import type { Column } from '../ui/data-table.tsx'
import { List } from '../ui/list-page.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { messageOf } from '../ui/states.tsx'
import { Foreign, isolated, Moment } from '../ui/text.tsx'
import { Invitations, InviteButton } from './invitations.tsx'
import classes from './settings-table.module.css'
import { text } from './text.ts'

/** Rows per page. */
const MEMBERS_LENGTH = 50

const route = getRouteApi('/shell/settings/team')

/** The members of the workspace and their roles. */
export function TeamPage() {
  const { page = 1, dialog = false } = route.useSearch()
  const navigate = route.useNavigate()
  const { role, user } = useMe()
  const isAdmin = useIsAtLeast('admin')
  const show = (changes: { dialog?: true }) =>
    navigate({ search: ({ page: shown }) => ({ page: shown, ...changes }), replace: true })
  return (
    <>
      <PageHeader
        title={text.team.title}
        description={text.team.description}
        actions={
          isAdmin ? (
            <InviteButton isOpen={dialog} onOpen={() => show({ dialog: true })} onClose={() => show({})} />
          ) : null
        }
      />
      <Stack gap="xl">
        <List
          label={text.team.members}
          query={useQuery(queryOf('listMembers', { page, limit: MEMBERS_LENGTH }))}
          rowsOf={({ members }) => members}
          rowKey={({ user_id }) => user_id}
          columns={columnsWith(role, user.user_id)}
          empty={{ icon: IconUsers, title: text.team.empty, hint: null }}
          paging={{
            page,
            limit: MEMBERS_LENGTH,
            onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
          }}
        />
        {isAdmin ? (
          <section>
            <Title order={2} size="h4" mb="sm">
              {text.invitations.title}
            </Title>
            <Invitations />
          </section>
        ) : null}
        <RoleWords />
      </Stack>
    </>
  )
}

function columnsWith(myRole: Role, myId: string): Column<Member>[] {
  const columns: Column<Member>[] = [
    {
      id: 'name',
      header: text.team.name,
      cell: ({ name, email, user_id }) => (
        <div className={classes.name}>
          <Group gap={6}>
            <Text size="sm" fw={550}>
              <Foreign max={80}>{name || email}</Foreign>
            </Text>
            {user_id === myId ? <Badge color="gray">{text.team.you}</Badge> : null}
          </Group>
          <Text size="xs" c="dimmed">
            <Foreign max={120}>{email}</Foreign>
          </Text>
        </div>
      ),
    },
    {
      id: 'role',
      header: text.team.role,
      cell: (member) => <RoleOf member={member} myRole={myRole} isMe={member.user_id === myId} />,
    },
    {
      id: 'joined',
      header: text.team.joined,
      visibleFrom: 'sm',
      cell: ({ joined_at: at }) => <Moment at={at} c="dimmed" />,
    },
  ]
  if (rolesToGive(myRole).length === 0) return columns
  const actions: Column<Member> = {
    id: 'actions',
    header: text.team.actions,
    align: 'right',
    cell: (member) => (isMine(member, myRole) && member.user_id !== myId ? <Remove member={member} /> : null),
  }
  return [...columns, actions]
}

/** Whether a person with my role may change or remove this member. */
function isMine(member: Member, myRole: Role): boolean {
  return rolesToGive(myRole).includes(member.role)
}

function RoleOf({ member, myRole, isMe }: { member: Member; myRole: Role; isMe: boolean }) {
  const changing = useOperation('updateMember', {
    onError: (error) => notifications.show({ color: 'red', message: messageOf(error) }),
  })
  if (isMe || !isMine(member, myRole)) return member.role
  return (
    <NativeSelect
      size="xs"
      w={104}
      aria-label={text.team.roleOf((member.name || member.email).slice(0, 80))}
      data={rolesToGive(myRole)}
      disabled={changing.isPending}
      value={changing.isPending ? changing.variables.role : member.role}
      onChange={(event) => changing.mutate({ user_id: member.user_id, role: event.currentTarget.value as Role })}
    />
  )
}

function Remove({ member: { user_id: id, name, email } }: { member: Member }) {
  const removing = useOperation('removeMember')
  const called = (name || email).slice(0, 80)
  return (
    <ConfirmButton
      size="xs"
      title={text.team.remove.title}
      explanation={text.team.remove.explanation(isolated(called))}
      confirmLabel={text.team.remove.confirm}
      aria-label={text.team.remove.label(called)}
      onConfirm={() => removing.mutateAsync({ user_id: id })}
    >
      {text.team.remove.button}
    </ConfirmButton>
  )
}

const ROLES = ['viewer', 'member', 'admin', 'owner'] as const

function RoleWords() {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        {text.team.roles.title}
      </Title>
      <Stack gap={4}>
        {ROLES.map((role) => (
          <Text key={role} size="sm" c="dimmed">
            <Text span inherit fw={600} c="var(--mantine-color-text)">
              {role}
            </Text>{' '}
            {text.team.roles[role]}
          </Text>
        ))}
      </Stack>
    </section>
  )
}
