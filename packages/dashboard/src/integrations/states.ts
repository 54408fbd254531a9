import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import { useMay } from '../session/may.ts'
import { latestOf } from '../ui/format.ts'
import { text } from './text.ts'

/** What a card says. */
export interface State {
  /** `on` only where something has worked. */
  light: 'on' | 'failing' | 'off'
  /** Whether there is something to manage. */
  exists: boolean
  words: string
}

export type CardName = keyof typeof text.cards

/** While somebody follows a guide in another tab, its card turns green by itself. */
const AGAIN_MS = 10_000
const { states: words } = text

/** The state of each card; undefined while it is not known, or where the person may not know it. */
export function useStates(): Partial<Record<CardName, State>> {
  const reads = useMay('settings:read')
  const often = { refetchInterval: AGAIN_MS, enabled: reads }
  const tracker = useQuery({ ...queryOf('getTracker'), ...often }).data
  const sources = useQuery({ ...queryOf('listSources', { limit: 100 }), ...often }).data?.sources
  const connections = useQuery({ ...queryOf('listConnections', { limit: 50 }), ...often }).data?.connections
  const hooks = useQuery({ ...queryOf('listHooks', { limit: 50 }), ...often }).data?.hooks
  const senders = useQuery({ ...queryOf('listIdentities', { limit: 100 }), refetchInterval: AGAIN_MS }).data?.identities
  const webhooks = useQuery({ ...queryOf('listWebhooks', { limit: 100 }), ...often, enabled: useMay('webhooks:read') })
    .data?.webhooks
  const health = useQuery({ ...queryOf('listWebhookHealth'), ...often, enabled: useMay('webhooks:read') }).data?.health
  const imports = useQuery({ ...queryOf('listImports', { limit: 1 }), enabled: useMay('contacts:write') }).data?.imports
  const warehouse = useQuery({ ...queryOf('listWarehouseDestinations', { limit: 20 }), ...often }).data?.destinations
  const apps = useQuery(queryOf('listConnectedApps', { limit: 100 })).data?.connected_apps
  const keys = useQuery({ ...queryOf('listApiKeys', { limit: 100 }), ...often, enabled: useMay('keys:write') }).data
    ?.keys

  const live = keys?.filter(({ revoked_at, expires_at }) => revoked_at === null && isAhead(expires_at))
  // The others are for AI agents.
  const ofServers = live?.filter(({ mcp_only: isForAgents }) => !isForAgents)
  const ofSegment = sources?.filter(({ type }) => type !== 'connector')
  const lastBody = hooks && latestOf(hooks.map(({ last_body_at: at }) => at))
  return {
    ...(tracker && { website: seen(tracker.last_event?.timestamp ?? null) }),
    ...(ofServers && { servers: seen(latestOf(ofServers.map(({ last_used_at: at }) => at))) }),
    ...(ofSegment && { segment: seen(latestOf(ofSegment.map(({ last_seen_at: at }) => at))) }),
    ...(connections && {
      systems: counted(connections, words.connections, {
        fails: isStopped,
        works: ({ last_run: run }) => run !== null,
      }),
      writeBack: counted(
        connections.filter(({ write_back: back }) => back !== null),
        words.writeBacks,
        { fails: isStopped },
      ),
    }),
    ...(hooks && {
      hooks: counted(hooks, (count) => words.hooks(count, lastBody ?? null), {
        fails: ({ failed_bodies: failed }) => failed > 0,
        works: ({ last_body_at: at }) => at !== null,
      }),
    }),
    ...(imports && {
      imports: counted(imports, () => words.imports(imports[0]?.created_at ?? ''), {
        works: ({ state }) => state === 'completed',
      }),
    }),
    ...(senders && {
      mailbox: counted(
        senders.filter(({ email_account: { connected } }) => connected),
        words.mailboxes,
      ),
    }),
    ...(webhooks && {
      webhooks: counted(webhooks, words.webhooks, {
        fails: ({ subscription_id: id }) => health?.find((each) => each.subscription_id === id)?.is_failing === true,
        works: ({ subscription_id: id }) =>
          (health?.find((each) => each.subscription_id === id)?.last_success_at ?? null) !== null,
      }),
    }),
    ...(warehouse && {
      warehouse: counted(warehouse, words.destinations, {
        fails: ({ last_run: run }) => run?.status === 'retrying',
        works: ({ last_run: run }) => run?.status === 'succeeded',
      }),
    }),
    ...(apps && { mcp: counted(apps, words.apps, { works: ({ last_used_at: at }) => at !== null }) }),
    ...(live && { keys: counted(live, words.keys, { works: ({ last_used_at: at }) => at !== null }) }),
    ...(sources && { sources: counted(sources, words.sources, { works: ({ last_seen_at: at }) => at !== null }) }),
  }
}

/** The state of what shows by its last time that it works. */
function seen(at: string | null): State {
  if (at === null) return { light: 'off', exists: false, words: words.notConnected }
  return { light: 'on', exists: true, words: words.last(at) }
}

interface Proofs<Thing> {
  /** Whether something is wrong with one. */
  fails?: (thing: Thing) => boolean
  /** Whether one has worked; without it, one that exists works. */
  works?: (thing: Thing) => boolean
}

/** The state of things that people create: one that was never used is no proof that anything works. */
function counted<Thing>(
  things: readonly Thing[],
  say: (count: number) => string,
  { fails, works = () => true }: Proofs<Thing> = {},
): State {
  if (things.length === 0) return { light: 'off', exists: false, words: words.none }
  const failing = fails ? things.filter(fails).length : 0
  if (failing > 0) return { light: 'failing', exists: true, words: words.failing(failing) }
  return { light: things.some(works) ? 'on' : 'off', exists: true, words: say(things.length) }
}

function isStopped({ state }: { state: string }): boolean {
  return state === 'failed' || state === 'signed_out'
}

function isAhead(at: string | null): boolean {
  return at === null || Date.parse(at) > Date.now()
}
