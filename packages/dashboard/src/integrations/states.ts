import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import { useMay } from '../session/may.ts'
import { text } from './text.ts'

/** What a card says: whether it works, and since when or how many. */
export interface State {
  kind: 'on' | 'failing' | 'off'
  words: string
}

export type CardName = keyof typeof text.cards

/** While somebody follows a guide in another tab, its card turns green by itself. */
const AGAIN_MS = 10_000
const { states: words } = text
const OFF: State = { kind: 'off', words: words.notConnected }
const NONE: State = { kind: 'off', words: words.none }

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
  const apps = useQuery(queryOf('listConnectedApps', { limit: 100 })).data
  const keys = useQuery({ ...queryOf('listApiKeys', { limit: 100 }), ...often, enabled: useMay('keys:write') }).data
    ?.keys

  const seen = (at: string | null): State => (at === null ? OFF : { kind: 'on', words: words.last(at) })
  const counted = (count: number, say: (count: number) => string, failing = 0): State => {
    if (failing > 0) return { kind: 'failing', words: words.failing(failing) }
    return count === 0 ? NONE : { kind: 'on', words: say(count) }
  }
  const live = keys?.filter(({ revoked_at, expires_at }) => revoked_at === null && isAhead(expires_at))
  const lastBody = hooks?.reduce<string | null>((at, hook) => later(at, hook.last_body_at), null)
  return {
    ...(tracker && { website: seen(tracker.last_event?.timestamp ?? null) }),
    ...(live && {
      servers: seen(
        live
          // The others are for AI agents.
          .filter(({ mcp_only: isForAgents }) => !isForAgents)
          .reduce<string | null>((at, key) => later(at, key.last_used_at), null),
      ),
    }),
    ...(live && { keys: counted(live.length, words.keys) }),
    ...(sources && {
      segment: seen(
        sources
          .filter(({ type }) => type !== 'connector')
          .reduce<string | null>((at, source) => later(at, source.last_seen_at), null),
      ),
      sources: counted(sources.length, words.sources),
    }),
    ...(connections && {
      systems: counted(connections.length, words.connections, connections.filter(isFailing).length),
      writeBack: counted(connections.filter(({ write_back: back }) => back !== null).length, words.writeBacks),
    }),
    ...(hooks && {
      hooks: counted(
        hooks.length,
        (count) => words.hooks(count, lastBody ?? null),
        hooks.filter(({ failed_bodies: failed }) => failed > 0).length,
      ),
    }),
    ...(imports && { imports: imports[0] ? { kind: 'on', words: words.imports(imports[0].created_at) } : NONE }),
    ...(senders && {
      mailbox: counted(senders.filter(({ email_account: { connected } }) => connected).length, words.mailboxes),
    }),
    ...(webhooks && {
      webhooks: counted(webhooks.length, words.webhooks, health?.filter(({ is_failing: fails }) => fails).length),
    }),
    ...(warehouse && {
      warehouse: counted(
        warehouse.length,
        words.destinations,
        warehouse.filter(({ last_run: run }) => run?.status === 'retrying').length,
      ),
    }),
    ...(apps && { mcp: counted(apps.pagination.total_items, words.apps) }),
  }
}

function isFailing({ state }: { state: string }): boolean {
  return state === 'failed' || state === 'signed_out'
}

function isAhead(at: string | null): boolean {
  return at === null || Date.parse(at) > Date.now()
}

function later(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other > one) ? other : one
}
