import type { JsonApi } from '../platform/outbound/json-api.ts'
import { RefusedAddress } from '../platform/outbound/urls.ts'
import type { Tenant } from '../platform/tenant.ts'
import { HOUR_MS, MINUTE_MS } from '../platform/time.ts'
import type { Timer } from '../platform/timer.ts'
import { connectorId } from '../sources/connectors.ts'
import { connectorNamed } from './all-connectors.ts'
import { type Client, isRefusal, problemOf, RateLimited, SignedOut } from './client.ts'
import { clientOfConnection } from './connection-client.ts'
import { type ConnectionRow, findConnection } from './connections.ts'
import type { Connector, ConnectorObject, RecordsPage, Settings } from './connector.ts'
import {
  afterPage,
  afterRefusal,
  endOfRead,
  missingFor,
  objectPosition,
  type Position,
  refusedIn,
  withoutRun,
  withRun,
} from './position.ts'
import { finishRun, notePage, startRun } from './runs.ts'
import type { SignInServices } from './sign-in.ts'
import { pairsOf, yieldedBy } from './write-back/write-back.ts'
import { type PageServices, writePage } from './write-page.ts'
import type { Writer } from './write-profiles.ts'

/** A job reads for this long, then makes way for other jobs. The next job continues where it stopped. */
const SLICE_MS = 5 * MINUTE_MS
/** While more journal rows than this wait for ClickHouse, a pull waits, so that it does not delay incoming events. */
const JOURNAL_ROWS_MAX = 64
const JOURNAL_PAUSE_MS = 500
const RETRY_MS_FIRST = 30_000
const RETRY_MS_MAX = HOUR_MS
/** A longer wait for a rate limit is shown as the connection's error, so that people see why nothing is read. */
const UNEXPLAINED_WAIT_MS_MAX = HOUR_MS
const INTERNAL =
  'The pull failed because of an internal error and will be retried. The cause is in the log of the service.'

export interface PullServices extends PageServices, SignInServices {
  /** Calls the APIs of connected systems. */
  connectorApi: JsonApi
  timer: Timer
  /** The number of rows in the journal. */
  journalRows(): Promise<number>
  pullMinutes: number
  /** For tests: where each connector's API is. */
  connectorUrls: Readonly<Record<string, string>>
}

/**
 * Reads what changed in a connected system since the last run, object by object. The position is stored after each page, and
 * a pull continues there after a restart, a rate limit or an error.
 * @throws an unexpected error, to be logged. The connection shows every error, and the pull is retried.
 */
export async function pullConnection(
  tenant: Tenant,
  services: PullServices,
  connectionId: string,
  signal: AbortSignal,
): Promise<void> {
  const connection = await findConnection(tenant, connectionId)
  if (!connection || connection.state === 'paused' || connection.state === 'signed_out') return
  const connector = connectorNamed(connection.connector)
  const store = storeOf(tenant, connection)
  const { clock } = services
  try {
    await store({ state: 'pulling' })
    const client = clientOfConnection(tenant, services, connector, connection, signal)
    const position = await read(tenant, services, { connector, connection, client, signal })
    const isDone = position.runId === null
    const refused = refusedIn(position, connector)
    const now = clock()
    await store({
      // A refused object is shown as an error, but is not a failure to retry: the account may lack a permission on purpose.
      state: isDone && refused !== null ? 'failed' : 'waiting',
      error: refused,
      failures: 0,
      next_pull_at: isDone ? new Date(now.getTime() + services.pullMinutes * MINUTE_MS) : now,
    })
  } catch (error) {
    const now = clock()
    if (error instanceof RateLimited) {
      const isLong = error.until.getTime() - now.getTime() > UNEXPLAINED_WAIT_MS_MAX
      const reason = `${error.message} ${connector.label} accepts requests again at ${error.until.toISOString()}.`
      return store({ state: 'waiting', error: isLong ? reason : null, next_pull_at: error.until })
    }
    // A process that stops is not a failure. The next process continues.
    if (signal.aborted) return store({ state: 'waiting', next_pull_at: now })
    if (error instanceof Replaced) return
    if (error instanceof SignedOut) return store({ state: 'signed_out', error: error.message })
    const failures = connection.failures + 1
    const retryMs = Math.min(RETRY_MS_FIRST * 2 ** (failures - 1), RETRY_MS_MAX)
    const problem = problemOf(connector.label, error) ?? (error instanceof RefusedAddress ? error.message : null)
    const next_pull_at = new Date(now.getTime() + retryMs)
    await store({ state: 'failed', error: problem ?? INTERNAL, failures, next_pull_at })
    if (problem === null) throw error
  }
}

/** A person changed the connection during the pull. The next pull uses their changes. */
class Replaced extends Error {}

type Changes = Partial<{ state: string; error: string | null; failures: number; next_pull_at: Date; position: string }>

/** Stores the progress, unless a person changed the connection during the pull. */
function storeOf(tenant: Tenant, { connection_id, revision }: ConnectionRow) {
  return async (changes: Changes): Promise<void> => {
    await tenant.db
      .updateTable('connections')
      .set(changes)
      .where('connection_id', '=', connection_id)
      .where('revision', '=', revision)
      .execute()
  }
}

interface Pull {
  connector: Connector
  connection: ConnectionRow
  client: Client
  signal: AbortSignal
}

/** @returns how far it has read. If it stopped early because its time was up, the run is not complete. */
async function read(tenant: Tenant, services: PullServices, pull: Pull): Promise<Position> {
  const { connector, connection, client, signal } = pull
  const { clock } = services
  const endsAt = performance.now() + SLICE_MS
  const connectionId = connection.connection_id
  const writer = await writerOf(tenant, connector, connection, clock())
  let position = connection.position as unknown as Position
  const store = (next: Position, more: (tx: Tenant) => Promise<void>) =>
    tenant.transaction(async (tx) => {
      const { numUpdatedRows } = await tx.db
        .updateTable('connections')
        .set({ position: JSON.stringify(next) })
        .where('connection_id', '=', connectionId)
        .where('revision', '=', connection.revision)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new Replaced()
      await more(tx)
      position = next
    })
  if (position.runId === null) {
    await tenant.transaction(async (tx) => {
      const now = clock()
      position = withRun(position, await startRun(tx, connectionId, now), now)
    })
    await store(position, async () => {})
  }
  const runId = position.runId ?? ''
  const readAll = async (object: ConnectorObject): Promise<'read' | 'time is up'> => {
    while (!objectPosition(position, object.name).isDone) {
      signal.throwIfAborted()
      if (performance.now() > endsAt) return 'time is up'
      await waitForProjector(services, signal)
      const { since, isHistory, read } = objectPosition(position, object.name)
      const until = endOfRead(position, object, clock())
      const pages = object.read(client, {
        since: since === null ? null : new Date(Date.parse(since) - (isHistory ? 0 : object.overlapSeconds * 1_000)),
        until,
        isHistory,
        cursor: read?.cursor ?? null,
        settings: connection.settings as Settings,
        signal,
        pairs: pairsOf(connection),
      })
      // The slice starts with the first page, which may follow a long download. Otherwise most of the download could be wasted.
      let pagesEndAt: number | null = null
      for await (const page of eachOf(pages)) {
        pagesEndAt ??= performance.now() + SLICE_MS
        const result = await writePage(tenant, services, writer, page, isHistory)
        await store(afterPage(position, object.name, until, page.next), (tx) =>
          notePage(tx, { connectionId, runId, object: object.name }, result, clock()),
        )
        if (page.next === null || performance.now() > pagesEndAt) break
        signal.throwIfAborted()
        await waitForProjector(services, signal)
      }
    }
    return 'read'
  }
  for (const object of connector.objects) {
    const missing = missingFor(position, object)
    if (missing !== null) {
      // Read now, its records would fail, and the next read would start after them.
      await store(
        afterRefusal(position, object.name, `Waits for ${missing}, which its records refer to.`),
        async () => {},
      )
      continue
    }
    try {
      if ((await readAll(object)) === 'time is up') return position
    } catch (error) {
      if (!isRefusal(error)) throw error
      // The sign-in may lack the permission for one object. The others are still read.
      await store(afterRefusal(position, object.name, error.message), async () => {})
    }
  }
  await store(withoutRun(position), (tx) => finishRun(tx, connectionId, runId, clock()))
  return position
}

async function* eachOf(pages: ReturnType<ConnectorObject['read']>): AsyncGenerator<RecordsPage> {
  if (Symbol.asyncIterator in pages) yield* pages
  else yield await pages
}

async function writerOf(tenant: Tenant, { kind }: Connector, connection: ConnectionRow, now: Date): Promise<Writer> {
  const { source } = connection
  const sourceId = await connectorId(tenant, source, kind, now)
  return { source, kind, sourceId, isFollowed: true, yields: yieldedBy(connection) }
}

async function waitForProjector({ journalRows, timer }: PullServices, signal: AbortSignal): Promise<void> {
  while ((await journalRows()) > JOURNAL_ROWS_MAX) await timer.sleep(JOURNAL_PAUSE_MS, signal)
}
