import { Alert, Badge, Button, Card, Group, Loader, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import {
  checkSocial,
  type Identity,
  type IdentityConnections,
  isEnded,
  refreshIdentities,
  sendSocialCode,
  socialStatusQuery,
  startSocialLogin,
} from '../api/identities.ts'
import { messageOf } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'

interface SocialCardProps {
  identity: Identity
  connections: IdentityConnections
  mayWrite: boolean
}

/** How an identity stands with the social network; logging in, with whatever step the network asks for. */
export function SocialCard({ identity, connections, mayWrite }: SocialCardProps) {
  const queryClient = useQueryClient()
  const { identity_id: identityId, social } = identity
  const { social_login: login, is_sandbox: isSandbox } = connections
  const [isAsking, setAsking] = useState(false)
  // What was begun in this window, or before it was opened and is still under way.
  const [begun, setBegun] = useState<string | null>(null)
  const session = login && (login.session_id === begun || !isEnded(login.status)) ? login : null
  const refresh = () => refreshIdentities(queryClient)
  const renewing = useMutation({
    mutationFn: () => startSocialLogin(identityId, {}),
    onSuccess: ({ login_result: { session_id } }) => setBegun(session_id),
    // A log-in that the network refuses at once is a session too.
    onSettled: refresh,
  })
  const checking = useMutation({ mutationFn: () => checkSocial(identityId), onSuccess: refresh })
  return (
    <Card component="section" aria-labelledby="social">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5" id="social">
          Social network
        </Title>
        {social.profile_id === null ? null : social.connected ? (
          <Badge color="teal">connected</Badge>
        ) : (
          <Badge color="orange">log in again</Badge>
        )}
      </Group>
      <Stack gap="sm">
        {isSandbox ? (
          <Alert color="ink" variant="light">
            The network is a sandbox: it plays log-ins and messages, and nothing leaves this service.
          </Alert>
        ) : null}
        {social.profile_id === null ? (
          <Text size="sm" c="dimmed">
            It has no profile yet, so it can send no messages and invitations.
          </Text>
        ) : (
          <Text size="sm">
            Profile <Foreign max={80}>{social.profile_id}</Foreign>
            {social.checked_at === null ? null : (
              <>
                , checked <Moment at={social.checked_at} />
              </>
            )}
          </Text>
        )}
        {session && mayWrite ? (
          <LoginProgress
            key={session.session_id}
            identityId={identityId}
            sessionId={session.session_id}
            deadline={session.deadline_at}
            onEnd={refresh}
          />
        ) : null}
        {[renewing.error, checking.error].map((error) =>
          error ? (
            <Alert key={error.message} color="red" role="alert">
              {messageOf(error)}
            </Alert>
          ) : null,
        )}
        {checking.data ? (
          <Text size="sm" role="status" c={checking.data.connected ? 'teal' : 'orange'}>
            {checking.data.connected
              ? 'The network accepts it.'
              : 'The network does not accept it any more: log in again.'}
          </Text>
        ) : null}
        {isAsking && mayWrite ? (
          <LoginForm
            identityId={identityId}
            onBegun={(sessionId) => {
              setBegun(sessionId)
              setAsking(false)
              return refresh()
            }}
            onCancel={() => setAsking(false)}
          />
        ) : null}
        {mayWrite && !isAsking ? (
          <Group gap="xs">
            <Button
              variant={social.profile_id === null ? 'filled' : 'default'}
              disabled={session !== null && !isEnded(session.status)}
              onClick={() => setAsking(true)}
            >
              {social.profile_id === null ? 'Log in' : 'Log in with a password'}
            </Button>
            {social.profile_id === null ? null : (
              <>
                <Button variant="default" loading={renewing.isPending} onClick={() => renewing.mutate()}>
                  Renew the log-in
                </Button>
                <Button variant="default" loading={checking.isPending} onClick={() => checking.mutate()}>
                  Check
                </Button>
              </>
            )}
          </Group>
        ) : null}
      </Stack>
    </Card>
  )
}

interface LoginFormProps {
  identityId: string
  onBegun: (sessionId: string) => Promise<unknown>
  onCancel: () => void
}

function LoginForm({ identityId, onBegun, onCancel }: LoginFormProps) {
  const queryClient = useQueryClient()
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [country, setCountry] = useState('US')
  const beginning = useMutation({
    mutationFn: () => startSocialLogin(identityId, { username: username.trim(), password, country: country.trim() }),
    onSuccess: ({ login_result: { session_id } }) => onBegun(session_id),
    onError: () => refreshIdentities(queryClient),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    beginning.mutate()
  }
  return (
    <Stack component="form" gap="sm" onSubmit={submit}>
      <TextInput
        label="User name or e-mail address"
        required
        autoComplete="off"
        maxLength={320}
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <Group grow align="flex-start">
        <PasswordInput
          label="Password"
          description="Forgotten as soon as the log-in ends."
          required
          autoComplete="new-password"
          maxLength={1_000}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <TextInput
          label="Country"
          description="Two letters: where it usually logs in."
          required
          minLength={2}
          maxLength={2}
          value={country}
          onChange={(event) => setCountry(event.currentTarget.value.toUpperCase())}
        />
      </Group>
      {beginning.isError ? (
        <Alert color="red" role="alert" title="The log-in did not work">
          {messageOf(beginning.error)}
        </Alert>
      ) : null}
      <Group gap="xs">
        <Button type="submit" loading={beginning.isPending}>
          Log in
        </Button>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </Group>
    </Stack>
  )
}

interface LoginProgressProps {
  identityId: string
  sessionId: string
  deadline: string
  onEnd: () => Promise<unknown>
}

/** Follows a log-in to its end, and takes the code that the network asks for. */
function LoginProgress({ identityId, sessionId, deadline, onEnd }: LoginProgressProps) {
  const { data, error } = useQuery(socialStatusQuery(identityId, sessionId))
  const status = data?.status
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it ends
  useEffect(() => {
    if (status !== undefined && isEnded(status)) void onEnd()
  }, [status])
  if (error && !data) {
    return (
      <Alert color="red" role="alert">
        {messageOf(error)}
      </Alert>
    )
  }
  if (status === 'completed') {
    return (
      <Alert color="teal" role="status" title="Connected">
        The network has let it in.
      </Alert>
    )
  }
  if (status === 'failed') {
    return (
      <Alert color="red" role="alert" title="The log-in did not work">
        {data?.error?.message ?? 'The network refused it.'}
      </Alert>
    )
  }
  return (
    <Card padding="sm" role="status" aria-label="Log-in under way">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Loader size={16} mt={3} aria-hidden />
        <Stack gap="sm" flex={1}>
          <div>
            <Text size="sm" fw={550}>
              {WORDS[status ?? 'queued']}
            </Text>
            <Remaining until={deadline} />
          </div>
          {status === 'awaiting_2fa' ? (
            <CodeForm identityId={identityId} sessionId={sessionId} problem={data?.error?.message} />
          ) : null}
        </Stack>
      </Group>
    </Card>
  )
}

const WORDS: Record<string, string> = {
  queued: 'The log-in is about to begin.',
  running: 'The network is looking at it.',
  awaiting_2fa: 'The network wants a code of the second factor.',
  awaiting_email: 'The network has sent an e-mail. Open the link in it, then wait here.',
}

/** How long the log-in waits; not read out every second. */
function Remaining({ until }: { until: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.round((Date.parse(until) - now) / 1_000))
  return (
    <Text size="xs" c="dimmed" aria-live="off">
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')} left
    </Text>
  )
}

interface CodeFormProps {
  identityId: string
  sessionId: string
  problem: string | undefined
}

function CodeForm({ identityId, sessionId, problem }: CodeFormProps) {
  const queryClient = useQueryClient()
  const [code, setCode] = useState('')
  const sending = useMutation({
    mutationFn: () => sendSocialCode(identityId, sessionId, code.trim()),
    onSettled: () => {
      setCode('')
      return queryClient.invalidateQueries({ queryKey: socialStatusQuery(identityId, sessionId).queryKey })
    },
  })
  const wrong = sending.error ? messageOf(sending.error) : problem
  return (
    <Group
      component="form"
      gap="xs"
      align="flex-start"
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        sending.mutate()
      }}
    >
      <TextInput
        label="Code"
        required
        autoFocus
        inputMode="numeric"
        autoComplete="one-time-code"
        pattern="[A-Za-z0-9]{4,12}"
        maxLength={12}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        error={wrong && !sending.isPending ? wrong : null}
        style={{ flex: '1 1 160px' }}
      />
      <Button type="submit" mt={25} loading={sending.isPending} disabled={code.trim() === ''}>
        Send the code
      </Button>
    </Group>
  )
}
