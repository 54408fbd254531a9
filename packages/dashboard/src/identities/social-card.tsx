import { Alert, Badge, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { refreshAfter, useOperation } from '../api/operation.ts'
import type { Identity, IdentityConnections } from '../api/types.ts'
import { messageOf } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { SocialForm } from './social-form.tsx'
import { isEnded, SocialProgress } from './social-progress.tsx'
import { text } from './text.ts'

interface SocialCardProps {
  identity: Identity
  connections: IdentityConnections
  mayWrite: boolean
}

/** The social connection of an identity, and the login with its steps. */
export function SocialCard({ identity, connections, mayWrite }: SocialCardProps) {
  const queryClient = useQueryClient()
  const { identity_id: identityId, social } = identity
  const { social_login: login, is_sandbox: isSandbox } = connections
  const [isAsking, setAsking] = useState(false)
  // A login that was started in this window, or earlier and is still in progress.
  const [begun, setBegun] = useState<string | null>(null)
  const session = login && (login.session_id === begun || !isEnded(login.status)) ? login : null
  const isUnderWay = session !== null && !isEnded(session.status)
  const refresh = () => refreshAfter(queryClient, 'socialLogin')
  const renewing = useOperation('socialLogin', {
    onDone: ({ login_result: { session_id } }) => setBegun(session_id),
    // A login that the network rejects at once is a session too.
    onError: refresh,
  })
  const checking = useOperation('socialCheck')
  return (
    <Card component="section" aria-labelledby="social">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5" id="social">
          {text.social.title}
        </Title>
        {social.profile_id === null ? null : social.connected ? (
          <Badge color="teal">{text.connected}</Badge>
        ) : (
          <Badge color="orange">{text.logInAgain}</Badge>
        )}
      </Group>
      <Stack gap="sm">
        {isSandbox ? (
          <Alert color="ink" variant="light" role="note">
            {text.social.sandbox}
          </Alert>
        ) : null}
        {social.profile_id === null ? (
          <Text size="sm" c="dimmed">
            {text.social.none}
          </Text>
        ) : (
          <Text size="sm">
            {text.social.profile}
            <Foreign max={80}>{social.profile_id}</Foreign>
            {social.checked_at === null ? null : (
              <>
                {text.social.checked}
                <Moment at={social.checked_at} />
              </>
            )}
          </Text>
        )}
        {session && mayWrite ? (
          <SocialProgress
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
            {checking.data.connected ? text.social.valid : text.social.invalid}
          </Text>
        ) : null}
        {isAsking && mayWrite ? (
          <SocialForm
            identityId={identityId}
            onBegun={(sessionId) => {
              setBegun(sessionId)
              setAsking(false)
            }}
            onCancel={() => setAsking(false)}
          />
        ) : null}
        {mayWrite && !isAsking ? (
          <Group gap="xs">
            <Button
              variant={social.profile_id === null && !isUnderWay ? 'filled' : 'default'}
              onClick={() => setAsking(true)}
            >
              {isUnderWay
                ? text.social.startOver
                : social.profile_id === null
                  ? text.social.logIn
                  : text.social.withPassword}
            </Button>
            {social.profile_id === null || isUnderWay ? null : (
              <>
                <Button
                  variant="default"
                  loading={renewing.isPending}
                  onClick={() => renewing.mutate({ identity_id: identityId })}
                >
                  {text.social.renew}
                </Button>
                <Button
                  variant="default"
                  loading={checking.isPending}
                  onClick={() => checking.mutate({ identity_id: identityId })}
                >
                  {text.social.check}
                </Button>
              </>
            )}
          </Group>
        ) : null}
      </Stack>
    </Card>
  )
}
