import { Alert, Button, Card, Group, Loader, Stack, Text, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { queryOf, refreshAfter, useOperation } from '../api/operation.ts'
import { messageOf } from '../ui/states.tsx'
import { text } from './text.ts'

/** How often to read the status of a login until it ends. */
const REFRESH_MS = 2_500

export function isEnded(status: string): boolean {
  return status === 'completed' || status === 'failed'
}

interface SocialProgressProps {
  identityId: string
  sessionId: string
  deadline: string
  onEnd: () => Promise<unknown>
}

/** Shows the progress of a login, and asks for the network's code. */
export function SocialProgress({ identityId, sessionId, deadline, onEnd }: SocialProgressProps) {
  const { data, error } = useQuery({
    ...queryOf('socialLoginStatus', { identity_id: identityId, session_id: sessionId }),
    refetchInterval: ({ state }) => (state.data && isEnded(state.data.status) ? false : REFRESH_MS),
  })
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
      <Alert color="teal" role="status" title={text.socialProgress.connected}>
        {text.socialProgress.succeeded}
      </Alert>
    )
  }
  if (status === 'failed') {
    return (
      <Alert color="red" role="alert" title={text.socialProgress.failed}>
        {data?.error?.message ?? text.socialProgress.rejected}
      </Alert>
    )
  }
  return (
    <Card padding="sm" role="status" aria-label={text.socialProgress.label}>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Loader size={16} mt={3} aria-hidden />
        <Stack gap="sm" flex={1}>
          <div>
            <Text size="sm" fw={550}>
              {text.socialProgress.states[status ?? 'queued']}
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

/** The time left for the login; not announced every second. */
function Remaining({ until }: { until: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.round((Date.parse(until) - now) / 1_000))
  return (
    <Text size="xs" c="dimmed" aria-live="off">
      {text.socialProgress.left(Math.floor(seconds / 60), seconds % 60)}
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
  const sending = useOperation('socialLoginCode', {
    onDone: () => setCode(''),
    onError: () => {
      setCode('')
      return refreshAfter(queryClient, 'socialLoginCode')
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
        sending.mutate({ identity_id: identityId, session_id: sessionId, code: code.trim() })
      }}
    >
      <TextInput
        label={text.socialProgress.code}
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
        {text.socialProgress.send}
      </Button>
    </Group>
  )
}
