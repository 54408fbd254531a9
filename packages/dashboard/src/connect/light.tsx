import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { Connection, WebhookHealth } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { formatAgo, latestOf } from '../ui/format.ts'
import classes from './connect.module.css'
import type { Proof } from './kinds.ts'
import { text } from './text.ts'

const AGAIN_MS = 3_000
const KEYS_READ = 100
const APPS_READ = 100
const IDENTITIES_READ = 100
const SOURCES_READ = 100
const CONNECTIONS_READ = 50
const WEBHOOKS_READ = 200

/** A light that turns green when a connection works. @param isWaiting whether somebody is following the guide. */
export function Light({ proof, isWaiting = false }: { proof: Proof; isWaiting?: boolean }) {
  const connected = useConnected(proof)
  if (connected === undefined) return null
  return (
    <Group gap={8} wrap="nowrap" role={isWaiting ? 'status' : undefined}>
      <span className={classes.light} data-on={connected !== null} aria-hidden />
      <Text size="xs" c="dimmed">
        {connected ?? (isWaiting ? text.light.waiting : text.light.notYet)}
      </Text>
    </Group>
  )
}

/** What shows that it works, in words; null if nothing does yet, undefined while it is not known. */
function useConnected(proof: Proof): string | null | undefined {
  const refetchInterval = AGAIN_MS
  const mayReadKeys = useMay('keys:write')
  const connector = proof.by === 'key' ? proof.orConnector : undefined
  const tracker = useQuery({ ...queryOf('getTracker'), refetchInterval, enabled: proof.by === 'tracker' })
  const keys = useQuery({
    ...queryOf('listApiKeys', { limit: KEYS_READ }),
    refetchInterval,
    enabled: proof.by === 'key' && mayReadKeys,
  })
  const apps = useQuery({
    ...queryOf('listConnectedApps', { limit: APPS_READ }),
    refetchInterval,
    enabled: proof.by === 'key' && proof.orApp === true,
  })
  const mayReadSources = useMay('settings:read')
  const sources = useQuery({
    ...queryOf('listSources', { limit: SOURCES_READ }),
    refetchInterval,
    enabled: proof.by === 'write-key' && mayReadSources,
  })
  const connections = useQuery({
    ...queryOf('listConnections', { limit: CONNECTIONS_READ }),
    refetchInterval,
    enabled: (proof.by === 'connection' || connector !== undefined) && mayReadSources,
  })
  const identities = useQuery({
    ...queryOf('listIdentities', { limit: IDENTITIES_READ }),
    refetchInterval,
    enabled: proof.by === 'mailbox',
  })
  const webhooks = useQuery({
    ...queryOf('listWebhookHealth', { limit: WEBHOOKS_READ }),
    refetchInterval,
    enabled: proof.by === 'webhook',
  })

  const working = connections.data?.connections.filter(({ state }) => state === 'waiting' || state === 'pulling')
  switch (proof.by) {
    case 'tracker':
      return tracker.data && lastSeen(tracker.data.last_event?.timestamp ?? null)
    case 'key': {
      const own = keys.data?.keys.filter(({ name, revoked_at }) => name === proof.name && revoked_at === null)
      const used = [own, apps.data?.connected_apps].filter((each) => each !== undefined).flat()
      const isKnown = own !== undefined || apps.data !== undefined || working !== undefined
      const ofConnector = working?.filter((each) => each.connector === connector) ?? []
      const times = [...used.map(({ last_used_at }) => last_used_at), ...ofConnector.map(lastReadOf)]
      return isKnown ? lastSeen(latestOf(times)) : undefined
    }
    case 'write-key': {
      const keyed = sources.data?.sources.filter(({ type }) => type !== 'connector')
      return keyed && lastSeen(latestOf(keyed.map(({ last_seen_at }) => last_seen_at)))
    }
    case 'connection': {
      return working && lastSeen(latestOf(working.map(lastReadOf)))
    }
    case 'mailbox':
      return (
        identities.data && connectedIf(identities.data.identities.some(({ email_account }) => email_account.connected))
      )
    case 'webhook':
      return webhooks.data && lastSeen(latestOf(webhooks.data.health.map(lastAcceptedBy)))
  }
}

function lastReadOf({ last_run: run }: Pick<Connection, 'last_run'>): string | null {
  return run?.finished_at ?? null
}

function lastAcceptedBy({ is_failing, last_success_at }: WebhookHealth): string | null {
  return is_failing ? null : last_success_at
}

function lastSeen(at: string | null): string | null {
  return at === null ? null : text.light.last(formatAgo(at))
}

function connectedIf(isConnected: boolean): string | null {
  return isConnected ? text.light.connected : null
}
