import { Alert, Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconMailForward, IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { type Role, signInOptionsQuery } from '../api/session.ts'
import {
  type Invitation,
  type InvitationMade,
  invitationsQuery,
  invite,
  refreshTeam,
  renewInvitation,
  withdrawInvitation,
} from '../api/team.ts'
import { useMe } from '../app/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { EmptyState, messageOf } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { rolesToGive } from './roles.ts'
import classes from './settings-table.module.css'

/** Pending invitations. */
export function Invitations() {
  const { data, error, refetch } = useQuery(invitationsQuery)
  return (
    <DataTable
      label="Invitations"
      columns={COLUMNS}
      rows={data}
      rowKey={({ invitation_id }) => invitation_id}
      error={error}
      onRetry={refetch}
      empty={
        <EmptyState icon={IconMailForward} title="No pending invitations">
          An invitation is a link for one e-mail address and one role. It is valid for a week.
        </EmptyState>
      }
    />
  )
}

const COLUMNS: Column<Invitation>[] = [
  {
    id: 'email',
    header: 'E-mail address',
    cell: ({ email }) => (
      <Text size="sm" fw={550} className={classes.name}>
        <Foreign max={120}>{email}</Foreign>
      </Text>
    ),
  },
  { id: 'role', header: 'Role', visibleFrom: 'sm', cell: ({ role }) => role },
  { id: 'expires', header: 'Expires', visibleFrom: 'sm', cell: ({ expires_at: at }) => <Moment at={at} c="dimmed" /> },
  {
    id: 'actions',
    header: 'Actions',
    align: 'right',
    cell: (invitation) => <Actions invitation={invitation} />,
  },
]

function Actions({ invitation: { invitation_id: id, email, role } }: { invitation: Invitation }) {
  const queryClient = useQueryClient()
  const { role: mine } = useMe()
  const [made, setMade] = useState<InvitationMade | null>(null)
  const canMail = useQuery(signInOptionsQuery).data?.password_reset === 'mail'
  // People who cannot invite to that role cannot replace the invitation either.
  if (!rolesToGive(mine).includes(role)) return null
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <ConfirmButton
        size="xs"
        title={canMail ? 'Send the invitation again?' : 'Create a new link?'}
        explanation="The previous link stops working; the new one is valid for a week."
        confirmLabel={canMail ? 'Resend' : 'Create link'}
        aria-label={canMail ? `Resend to ${email}` : `New link for ${email}`}
        onConfirm={async () => {
          setMade(await renewInvitation(id))
          await refreshTeam(queryClient)
        }}
      >
        {canMail ? 'Resend' : 'New link'}
      </ConfirmButton>
      <Modal opened={made !== null} onClose={() => setMade(null)} title={canMail ? 'Invitation' : 'New link'}>
        {made ? <LinkMade made={made} onDone={() => setMade(null)} /> : null}
      </Modal>
      <ConfirmButton
        size="xs"
        title="Revoke the invitation?"
        explanation="Its link stops working."
        confirmLabel="Revoke invitation"
        aria-label={`Revoke the invitation of ${email}`}
        onConfirm={async () => {
          await withdrawInvitation(id)
          await refreshTeam(queryClient)
        }}
      >
        Revoke
      </ConfirmButton>
    </Group>
  )
}

export function InviteButton() {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
        Invite someone
      </Button>
      <Modal opened={isOpen} onClose={close} title="Invite someone">
        <InviteForm onDone={close} />
      </Modal>
    </>
  )
}

function InviteForm({ onDone }: { onDone: () => void }) {
  const queryClient = useQueryClient()
  const { role: mine } = useMe()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const inviting = useMutation({
    mutationFn: () => invite({ email: email.trim(), role }),
    onSuccess: () => refreshTeam(queryClient),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    inviting.mutate()
  }
  if (inviting.data) return <LinkMade made={inviting.data} onDone={onDone} />
  return (
    <Stack component="form" gap="md" onSubmit={submit}>
      <TextInput
        label="E-mail address"
        type="email"
        required
        data-autofocus
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <NativeSelect
        label="Role"
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as Role)}
        data={rolesToGive(mine)}
      />
      {inviting.isError ? (
        <Alert color="red" role="alert">
          {messageOf(inviting.error)}
        </Alert>
      ) : null}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
        <Button type="submit" loading={inviting.isPending}>
          Invite
        </Button>
      </Group>
    </Stack>
  )
}

/** The result of an invitation: mailed, or a link that is shown once. */
function LinkMade({ made: { invitation, link, mailed }, onDone }: { made: InvitationMade; onDone: () => void }) {
  const address = <Foreign max={254}>{invitation.email}</Foreign>
  return (
    <Stack gap="md">
      {link === null ? <Mailed address={address} isSent={mailed} /> : <LinkToPassOn address={address} link={link} />}
      <Button ml="auto" onClick={onDone} autoFocus>
        Done
      </Button>
    </Stack>
  )
}

function Mailed({ address, isSent }: { address: ReactNode; isSent: boolean }) {
  return isSent ? (
    <Alert color="green" role="status" title="Invitation sent">
      The link was mailed to {address} and is shown to nobody else. It works once, within a week.
    </Alert>
  ) : (
    <Alert color="yellow" role="alert" title="The mail could not be sent">
      The mail server rejected the mail to {address}. The invitation still exists: send it again from the list.
    </Alert>
  )
}

function LinkToPassOn({ address, link }: { address: ReactNode; link: string }) {
  return (
    <Alert color="green" role="status" title="Pass on this link">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          Anyone who opens it can join as {address}. It works once, within a week, and is not shown again.
        </Text>
        <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {link}
        </Text>
        <CopyButton value={link} label="the link" withText />
      </Stack>
    </Alert>
  )
}
