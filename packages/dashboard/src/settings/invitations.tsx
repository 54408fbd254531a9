import { Alert, Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { IconMailForward, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { CreateInvitationResult, Invitation } from '../api/types.ts'
import { rolesToGive, useMe } from '../session/may.ts'
import { type Role, signInOptionsQuery } from '../session/session.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import type { Column } from '../ui/data-table.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { List } from '../ui/list-page.tsx'
import { Foreign, isolated, Moment } from '../ui/text.tsx'
import classes from './settings-table.module.css'
import { text } from './text.ts'

/** Pending invitations. */
export function Invitations() {
  return (
    <List
      label={text.invitations.title}
      query={useQuery(queryOf('listInvitations', { limit: INVITATIONS_MAX }))}
      rowsOf={({ invitations }) => invitations}
      rowKey={({ invitation_id }) => invitation_id}
      columns={COLUMNS}
      empty={{ icon: IconMailForward, title: text.invitations.empty, hint: text.invitations.explanation }}
    />
  )
}

/** A tenant's limit of pending invitations. */
const INVITATIONS_MAX = 100

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
  const renewing = useOperation('renewInvitation', { onDone: (result) => setMade(result) })
  const deleting = useOperation('deleteInvitation')
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
        onConfirm={() => renewing.mutateAsync({ invitation_id: id })}
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
        onConfirm={() => deleting.mutateAsync({ invitation_id: id })}
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
      {isOpen ? <InviteDialog onClose={onClose} /> : null}
    </>
  )
}

function InviteDialog({ onClose }: { onClose: () => void }) {
  const { role: mine } = useMe()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const inviting = useOperation('createInvitation')
  const { title, submit } = text.invitations.invite
  return (
    <FormDialog
      title={title}
      submit={submit}
      sending={inviting}
      onSubmit={() => inviting.mutate({ email: email.trim(), role })}
      onClose={onClose}
      result={inviting.data ? { title, content: <LinkMade made={inviting.data} onDone={onClose} /> } : null}
    >
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
    </FormDialog>
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
