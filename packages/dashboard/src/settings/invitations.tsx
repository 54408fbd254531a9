import { Alert, Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { IconMailForward, IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type CreateInvitationResult,
  createInvitation,
  deleteInvitation,
  type Invitation,
  invitationsQuery,
  refreshTeam,
  renewInvitation,
} from '../api/team.ts'
import { rolesToGive, useMe } from '../session/may.ts'
import { type Role, signInOptionsQuery } from '../session/session.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Form, FormButtons, FormError } from '../ui/form.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, isolated, Moment } from '../ui/text.tsx'
import classes from './settings-table.module.css'
import { text } from './text.ts'

/** Pending invitations. */
export function Invitations() {
  const { data, error, refetch } = useQuery(invitationsQuery)
  return (
    <DataTable
      label={text.invitations.title}
      columns={COLUMNS}
      rows={data}
      rowKey={({ invitation_id }) => invitation_id}
      error={error}
      onRetry={refetch}
      empty={
        <EmptyState icon={IconMailForward} title={text.invitations.empty}>
          {text.invitations.explanation}
        </EmptyState>
      }
    />
  )
}

const COLUMNS: Column<Invitation>[] = [
  {
    id: 'email',
    header: text.invitations.email,
    cell: ({ email }) => (
      <Text size="sm" fw={550} className={classes.name}>
        <Foreign max={120}>{email}</Foreign>
      </Text>
    ),
  },
  { id: 'role', header: text.invitations.role, visibleFrom: 'sm', cell: ({ role }) => role },
  {
    id: 'expires',
    header: text.invitations.expires,
    visibleFrom: 'sm',
    cell: ({ expires_at: at }) => <Moment at={at} c="dimmed" />,
  },
  {
    id: 'actions',
    header: text.invitations.actions,
    align: 'right',
    cell: (invitation) => <Actions invitation={invitation} />,
  },
]

function Actions({ invitation: { invitation_id: id, email, role } }: { invitation: Invitation }) {
  const queryClient = useQueryClient()
  const { role: mine } = useMe()
  const [made, setMade] = useState<CreateInvitationResult | null>(null)
  const canMail = useQuery(signInOptionsQuery).data?.password_reset === 'mail'
  const renewal = canMail ? text.invitations.resend : text.invitations.renew
  // People who cannot invite to that role cannot replace the invitation either.
  if (!rolesToGive(mine).includes(role)) return null
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <ConfirmButton
        size="xs"
        title={renewal.title}
        explanation={text.invitations.renewExplanation}
        confirmLabel={renewal.confirm}
        aria-label={renewal.label(email)}
        onConfirm={async () => {
          setMade(await renewInvitation(id))
          await refreshTeam(queryClient)
        }}
      >
        {renewal.button}
      </ConfirmButton>
      <Modal opened={made !== null} onClose={() => setMade(null)} title={renewal.done}>
        {made ? <LinkMade made={made} onDone={() => setMade(null)} /> : null}
      </Modal>
      <ConfirmButton
        size="xs"
        title={text.invitations.deletion.title}
        explanation={text.invitations.deletion.explanation}
        confirmLabel={text.invitations.deletion.confirm}
        aria-label={text.invitations.deletion.label(email)}
        onConfirm={async () => {
          await deleteInvitation(id)
          await refreshTeam(queryClient)
        }}
      >
        {text.invitations.deletion.button}
      </ConfirmButton>
    </Group>
  )
}

interface InviteButtonProps {
  /** Whether its dialog is open. */
  isOpen: boolean
  onOpen: () => void
  onClose: () => void
}

export function InviteButton({ isOpen, onOpen, onClose }: InviteButtonProps) {
  return (
    <>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={onOpen}>
        {text.invitations.invite.title}
      </Button>
      <Modal opened={isOpen} onClose={onClose} title={text.invitations.invite.title}>
        <InviteForm onDone={onClose} />
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
    mutationFn: () => createInvitation({ email: email.trim(), role }),
    onSuccess: () => refreshTeam(queryClient),
  })
  if (inviting.data) return <LinkMade made={inviting.data} onDone={onDone} />
  return (
    <Form onSubmit={() => inviting.mutate()}>
      <TextInput
        label={text.invitations.email}
        type="email"
        required
        data-autofocus
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <NativeSelect
        label={text.invitations.role}
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as Role)}
        data={rolesToGive(mine)}
      />
      <FormError error={inviting.error} />
      <FormButtons
        submit={text.invitations.invite.submit}
        cancel={text.invitations.invite.cancel}
        isPending={inviting.isPending}
        onCancel={onDone}
      />
    </Form>
  )
}

/** The result of an invitation: mailed, or a link that is shown once. */
function LinkMade({
  made: { invitation, link, mailed },
  onDone,
}: {
  made: CreateInvitationResult
  onDone: () => void
}) {
  const email = isolated(invitation.email)
  return (
    <Stack gap="md">
      {link === null ? <Mailed email={email} isSent={mailed} /> : <LinkToShare email={email} link={link} />}
      <Button ml="auto" onClick={onDone} autoFocus>
        {text.invitations.done}
      </Button>
    </Stack>
  )
}

function Mailed({ email, isSent }: { email: string; isSent: boolean }) {
  return isSent ? (
    <Alert color="green" role="status" title={text.invitations.sent.title}>
      {text.invitations.sent.explanation(email)}
    </Alert>
  ) : (
    <Alert color="yellow" role="alert" title={text.invitations.notSent.title}>
      {text.invitations.notSent.explanation(email)}
    </Alert>
  )
}

function LinkToShare({ email, link }: { email: string; link: string }) {
  return (
    <Alert color="green" role="status" title={text.invitations.link.title}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{text.invitations.link.explanation(email)}</Text>
        <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {link}
        </Text>
        <CopyButton value={link} label={text.invitations.link.copy} withText />
      </Stack>
    </Alert>
  )
}
