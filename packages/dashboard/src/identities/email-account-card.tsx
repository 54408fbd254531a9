import { Alert, Badge, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { IconMailCheck, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  checkEmailAccount,
  type EmailAccount,
  type Identity,
  refreshIdentities,
  removeEmailAccount,
} from '../api/identities.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatNumber } from '../ui/format.ts'
import { messageOf } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { EmailAccountForm } from './email-account-form.tsx'

interface EmailAccountCardProps {
  identity: Identity
  account: EmailAccount | null
  mayWrite: boolean
}

/** An identity's mailbox: its settings, and whether the logins work. */
export function EmailAccountCard({ identity, account, mayWrite }: EmailAccountCardProps) {
  const queryClient = useQueryClient()
  const { identity_id: identityId } = identity
  const [isEditing, setEditing] = useState(false)
  const refresh = () => refreshIdentities(queryClient)
  const checking = useMutation({ mutationFn: () => checkEmailAccount(identityId), onSuccess: refresh })
  const remove = async () => {
    await removeEmailAccount(identityId)
    await refresh()
  }
  return (
    <Card component="section" aria-labelledby="mailbox">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5" id="mailbox">
          Mailbox
        </Title>
        {account === null ? null : account.connected ? (
          <Badge color="teal">connected</Badge>
        ) : (
          <Badge color="red">login fails</Badge>
        )}
      </Group>
      {account === null ? (
        <Text size="sm" c="dimmed" mb={mayWrite ? 'sm' : 0}>
          No mailbox: this identity cannot send e-mail.
        </Text>
      ) : null}
      {mayWrite && (account === null || isEditing) ? (
        <EmailAccountForm
          identityId={identityId}
          account={account}
          onSaved={() => setEditing(false)}
          onCancel={account === null ? undefined : () => setEditing(false)}
        />
      ) : null}
      {account !== null && !isEditing ? (
        <Stack gap="md">
          {account.error === null ? null : (
            <Alert color="red" role="alert" title="The mail servers reject the login">
              <Foreign max={1_000}>{account.error}</Foreign>
            </Alert>
          )}
          <Facts
            facts={[
              ['Address', <Foreign key="address">{account.address}</Foreign>],
              ['Sends through', <Foreign key="smtp">{serverWords(account.smtp)}</Foreign>],
              [
                'Reads from',
                account.imap ? <Foreign key="imap">{serverWords(account.imap)}</Foreign> : <None key="imap" />,
              ],
              ['Logs in with', <Foreign key="login">{loginWords(account)}</Foreign>],
              ['Maximum per day', `${formatNumber(account.daily_limit)} e-mails`],
              ['Interval between e-mails', `${formatNumber(account.spacing_seconds)} s`],
              [
                'Login worked',
                account.verified_at === null ? <None key="at" /> : <Moment key="at" at={account.verified_at} />,
              ],
            ]}
          />
          {checking.isError ? (
            <Alert color="red" role="alert">
              {messageOf(checking.error)}
            </Alert>
          ) : null}
          {checking.data?.email_account.connected ? (
            <Text size="sm" c="teal" role="status">
              {account.imap === null ? 'The login works.' : 'Both logins work.'}
            </Text>
          ) : null}
          {mayWrite ? (
            <Group gap="xs">
              <Button
                variant="light"
                leftSection={<IconMailCheck size={16} aria-hidden />}
                loading={checking.isPending}
                onClick={() => checking.mutate()}
              >
                Test the login
              </Button>
              <Button variant="default" onClick={() => setEditing(true)}>
                Change
              </Button>
              <ConfirmButton
                leftSection={<IconTrash size={16} aria-hidden />}
                title="Remove the mailbox?"
                explanation="The service deletes the password and stops sending and reading e-mail. E-mail that it has read is kept."
                confirmLabel="Remove mailbox"
                onConfirm={remove}
              >
                Remove
              </ConfirmButton>
            </Group>
          ) : null}
        </Stack>
      ) : null}
    </Card>
  )
}

function loginWords({ smtp, renewal }: EmailAccount): string {
  if (renewal !== null) return `access tokens from ${renewal.token_url}`
  return smtp.login === 'password' ? 'a password' : 'an access token'
}

function serverWords({ host, port, security, user }: EmailAccount['smtp']): string {
  return `${host}:${port} (${security === 'none' ? 'unencrypted' : security.toUpperCase()}) as ${user}`
}
