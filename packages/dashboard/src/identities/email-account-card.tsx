import { Alert, Badge, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { IconMailCheck, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { EmailAccount, Identity } from '../api/types.ts'
import { SignInButton } from '../providers/sign-in-button.tsx'
import { text as connectText } from '../providers/text.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { FormError } from '../ui/form.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { EmailAccountForm } from './email-account-form.tsx'
import { text } from './text.ts'

interface EmailAccountCardProps {
  identity: Identity
  account: EmailAccount | null
  mayWrite: boolean
}

/** An identity's mailbox: its settings, and whether the logins work. */
export function EmailAccountCard({ identity, account, mayWrite }: EmailAccountCardProps) {
  const { identity_id: identityId } = identity
  const [isEditing, setEditing] = useState(false)
  const checking = useOperation('checkEmailAccount')
  const remove = useOperation('removeEmailAccount')
  const provider = account?.renewal?.provider ?? null
  return (
    <Card component="section" aria-labelledby="mailbox">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5" id="mailbox">
          {text.mailbox.title}
        </Title>
        {account === null ? null : account.connected ? (
          <Badge color="teal">{text.connected}</Badge>
        ) : (
          <Badge color="red">{text.loginFails}</Badge>
        )}
      </Group>
      {account === null ? (
        <Text size="sm" c="dimmed" mb={mayWrite ? 'sm' : 0}>
          {text.mailbox.none}
        </Text>
      ) : null}
      {mayWrite && (account === null || isEditing) ? (
        <>
          {account === null ? <ProviderChoice identityId={identityId} /> : null}
          <EmailAccountForm
            identityId={identityId}
            account={account}
            onSaved={() => setEditing(false)}
            onCancel={account === null ? undefined : () => setEditing(false)}
          />
        </>
      ) : null}
      {account !== null && !isEditing ? (
        <Stack gap="md">
          {account.error === null ? null : (
            <Alert color="red" role="alert" title={account.needs_sign_in ? text.mailbox.ended : text.mailbox.rejected}>
              {account.needs_sign_in ? <Text size="sm">{endedWords(account)}</Text> : null}
              <Foreign max={1_000}>{account.error}</Foreign>
            </Alert>
          )}
          <Facts
            facts={[
              [text.mailbox.address, <Foreign key="address">{account.address}</Foreign>],
              [text.mailbox.sends, <Foreign key="smtp">{serverWords(account.smtp)}</Foreign>],
              [
                text.mailbox.reads,
                account.imap ? <Foreign key="imap">{serverWords(account.imap)}</Foreign> : <None key="imap" />,
              ],
              [text.mailbox.login, <Foreign key="login">{loginWords(account)}</Foreign>],
              [text.mailbox.dailyLimit, text.mailbox.emails(account.daily_limit)],
              [text.mailbox.spacing, text.mailbox.seconds(account.spacing_seconds)],
              [
                text.mailbox.worked,
                account.verified_at === null ? <None key="at" /> : <Moment key="at" at={account.verified_at} />,
              ],
            ]}
          />
          <FormError error={checking.error} />
          {checking.data?.email_account.connected ? (
            <Text size="sm" c="teal" role="status">
              {account.imap === null ? text.mailbox.oneWorks : text.mailbox.bothWork}
            </Text>
          ) : null}
          {mayWrite ? (
            <Group gap="xs" align="flex-start">
              {provider ? (
                <SignInButton
                  provider={provider}
                  purpose={mailboxOf(identityId)}
                  variant={account.needs_sign_in ? 'filled' : 'default'}
                >
                  {text.mailbox.signInAgain}
                </SignInButton>
              ) : null}
              <Button
                variant="light"
                leftSection={<IconMailCheck size={16} aria-hidden />}
                loading={checking.isPending}
                onClick={() => checking.mutate({ identity_id: identityId })}
              >
                {text.mailbox.test}
              </Button>
              <Button variant="default" onClick={() => setEditing(true)}>
                {text.mailbox.change}
              </Button>
              <ConfirmButton
                leftSection={<IconTrash size={16} aria-hidden />}
                title={text.mailbox.removeTitle}
                explanation={text.mailbox.removeExplanation}
                confirmLabel={text.mailbox.removeConfirm}
                onConfirm={() => remove.mutateAsync({ identity_id: identityId })}
              >
                {text.mailbox.remove}
              </ConfirmButton>
            </Group>
          ) : null}
        </Stack>
      ) : null}
    </Card>
  )
}

/** The providers where a person can sign in, in place of a password. */
function ProviderChoice({ identityId }: { identityId: string }) {
  return (
    <Stack gap="xs" mb="md">
      <Group gap="xs" align="flex-start">
        {Object.entries(text.mailbox.signIns).map(([provider, label]) => (
          <SignInButton key={provider} provider={provider} purpose={mailboxOf(identityId)}>
            {connectText.connect(label)}
          </SignInButton>
        ))}
      </Group>
      <Text size="sm" c="dimmed">
        {text.mailbox.orPassword}
      </Text>
    </Stack>
  )
}

function mailboxOf(identityId: string) {
  return { kind: 'mailbox', identity_id: identityId } as const
}

function providerLabel(provider: string): string {
  return Object.entries(text.mailbox.signIns).find(([name]) => name === provider)?.[1] ?? provider
}

function endedWords({ renewal }: EmailAccount): string {
  return renewal?.provider ? text.mailbox.endedAt(providerLabel(renewal.provider)) : text.mailbox.endedToken
}

function loginWords({ smtp, renewal }: EmailAccount): string {
  if (renewal?.provider) return text.mailbox.signedInAt(providerLabel(renewal.provider))
  if (renewal !== null) return text.mailbox.tokensFrom(renewal.token_url)
  return smtp.login === 'password' ? text.mailbox.password : text.mailbox.token
}

function serverWords({ host, port, security, user }: EmailAccount['smtp']): string {
  const encryption = security === 'none' ? text.mailbox.unencrypted : security.toUpperCase()
  return text.mailbox.server(`${host}:${port}`, encryption, user)
}
