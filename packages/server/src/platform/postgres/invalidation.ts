import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import type { Logger } from '../log.ts'
import type { PostgresAddress } from './address.ts'

const CHANNEL = 'cds_changed'
const RECONNECT_AFTER_MS = 500
const CONNECT_WITHIN_MS = 8_000
/** A response waits no longer than this for a connection that is stuck. */
const ROUND_TRIP = { text: 'SELECT 1', query_timeout: 1_000 }

const ignore = () => {}

/** Notifies every process of changes to data that it may have cached. */
export interface Invalidation {
  /** Whether notifications are currently received; otherwise no cache may be used. */
  readonly listening: boolean
  /** Calls `forget` whenever a cached row may have changed, here or in another process. */
  onChange(forget: () => void): void
  /**
   * Resolves once this process has forgotten what any transaction that committed before the call changed, so that a key
   * is refused as soon as the response to its deletion is sent.
   */
  caughtUp(): Promise<void>
  /**
   * Calls `wake` with the text that a process sends to this channel, and without one when notifications may have been
   * missed.
   */
  onNotified(channel: string, wake: (text?: string) => void): Promise<void>
  close(): Promise<void>
}

/**
 * Listens on a separate connection for `announceChange`. A lost connection empties all caches, because a notification
 * may have been missed.
 */
export async function listenForChanges(address: PostgresAddress, log: Logger): Promise<Invalidation> {
  const listeners: (() => void)[] = []
  let client: pg.Client | null = null
  let listening = false
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined

  const forgetAll = () => {
    for (const forget of listeners) forget()
  }

  /** What is called when a channel is notified, by channel. */
  const channels = new Map<string, (text?: string) => void>([[CHANNEL, forgetAll]])

  async function connect(): Promise<void> {
    const next = new pg.Client({
      ...address,
      application_name: 'customer-data-service listener',
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      keepAlive: true,
    })
    next.on('notification', ({ channel, payload }) => channels.get(channel)?.(payload))
    next.on('error', () => lost(next))
    next.on('end', () => lost(next))
    client = next
    await next.connect()
    for (const channel of channels.keys()) await next.query(`LISTEN ${channel}`)
    for (const notify of channels.values()) notify()
    listening = true
  }

  function lost(which: pg.Client): void {
    if (closed || which !== client) return
    client = null
    listening = false
    forgetAll()
    log.warn('the connection for change notifications was lost; caches are off until it is back')
    reconnect()
  }

  function reconnect(): void {
    // A failed connection may be reported twice.
    clearTimeout(timer)
    timer = setTimeout(() => {
      connect().catch(() => {
        client = null
        if (!closed) reconnect()
      })
    }, RECONNECT_AFTER_MS)
    timer.unref()
  }

  /** Waits for a query that starts after the call. Callers that wait for the running query to end share the next one. */
  function roundTrip(): Promise<void> {
    waiting ??= afterOthers(ROUND_TRIP, () => {
      waiting = undefined
    })
    return waiting
  }

  /** Queries one after another, as the client requires. Failures are ignored: `lost` handles those of the connection. */
  function afterOthers(query: string | pg.QueryConfig, onStart = ignore): Promise<void> {
    running = running.then(() => {
      onStart()
      return listening && client ? client.query(query).then(ignore, ignore) : undefined
    })
    return running
  }

  await connect()
  return {
    get listening() {
      return listening
    },
    onChange: (forget) => {
      listeners.push(forget)
    },
    // PostgreSQL sends a connection its notifications before the end of a query. If the connection is lost, the caches
    // are empty.
    caughtUp: async () => {
      if (listening) await roundTrip()
    },
    // A connection that is established meanwhile, or later, listens to the channel too.
    onNotified: (channel, wake) => {
      channels.set(channel, wake)
      return afterOthers(`LISTEN ${channel}`)
    },
    close: async () => {
      closed = true
      clearTimeout(timer)
      await client?.end()
    },
  }
}

/**
 * Has every process forget what it cached, once the transaction commits. Call it with each change of a table that
 * something caches: API keys, domains, identification settings, webhook subscriptions, email accounts.
 */
export async function announceChange<Tables>(transaction: Kysely<Tables>): Promise<void> {
  await sql`SELECT pg_notify(${CHANNEL}, '')`.execute(transaction)
}
