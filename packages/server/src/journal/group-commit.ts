import type pg from 'pg'
import { ServiceError, storeUnavailable } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { asUnavailable } from '../platform/postgres/unavailable.ts'
import type { Clock } from '../platform/time.ts'
import type { JournalRow } from './append.ts'
import { type EventGroup, type EventRecord, serializeEvents, sizeOf } from './event-record.ts'
import {
  assignOwners,
  distinctVisitors,
  type FlushPart,
  type FlushVisitor,
  readVisitors,
  type VisitorStatements,
  visitorKey,
  withBeginnings,
  writeAtOnce,
} from './flush-queries.ts'
import type { Projector } from './projector.ts'
import { removeRepeated } from './sent-ids.ts'

/** Events per flush: more would delay the last request with a large insert, fewer would waste commits. */
const FLUSH_EVENTS_MAX = 4_000
/**
 * Limits flushes of large events: 4,000 of the largest would block everything for ten seconds and take a gigabyte of
 * memory.
 */
const FLUSH_BYTES_MAX = 16_000_000
/**
 * Concurrent flushes: two statements use two of PostgreSQL's processors, but each has a fixed cost, so another flush
 * starts only when it is large enough.
 */
const FLUSHES_MAX = 2
const WORTH_ANOTHER_FLUSH = 400
/**
 * Events that may wait in memory; beyond this, callers are told to retry, so that the process does not run out of
 * memory.
 */
const WAITING_EVENTS_MAX = 200_000
const WAITING_BYTES_MAX = 128_000_000

export interface GroupCommit {
  /**
   * Records the event groups of a request, all or none. Resolves once their events are durable; every read that starts
   * afterwards sees them.
   * @throws ServiceError 503 if PostgreSQL is down or too much is waiting; then none of the events is recorded.
   */
  record(groups: readonly EventGroup[]): Promise<void>
  /** Waits until everything submitted so far is recorded. */
  drain(): Promise<void>
}

/** Returns what is written with some events, in the same statement; null for nothing. */
type MakePart = (events: readonly EventRecord[]) => FlushPart | null

/**
 * Reads what the part of a flush depends on. It is called before the flush acquires a connection, so it may use one
 * itself.
 */
export type PreparePart = (tenantIds: ReadonlySet<string>) => Promise<MakePart>

/** The event groups of a request. */
interface Waiting {
  groups: readonly EventGroup[]
  events: number
  bytes: number
  resolve(): void
  reject(error: unknown): void
}

/**
 * Lets concurrent requests share one commit. There is no timer: a request is flushed at once if a flush is free;
 * requests that arrive while all are busy share the next.
 */
export function createGroupCommit({
  pool,
  projector,
  visitorStatements,
  preparePart,
  clock,
  log,
  metrics,
  onRecorded,
}: {
  pool: pg.Pool
  projector: Pick<Projector, 'add'>
  visitorStatements: VisitorStatements
  preparePart: PreparePart
  clock: Clock
  log: Logger
  metrics: Metrics
  /** Called with the recorded events and their contacts. It must neither wait nor throw. */
  onRecorded?: (groups: readonly EventGroup[]) => void
}): GroupCommit {
  const knownVisitors = createKnownVisitors()
  const waiting: Waiting[] = []
  let waitingEvents = 0
  let waitingBytes = 0
  let flushes = 0
  const whenIdle: (() => void)[] = []

  function startFlushes(): void {
    while (waiting.length > 0 && (flushes === 0 || (flushes < FLUSHES_MAX && waitingEvents >= WORTH_ANOTHER_FLUSH))) {
      flushes++
      void flush(nextRequests()).finally(() => {
        flushes--
        startFlushes()
        if (flushes === 0) for (const resolve of whenIdle.splice(0)) resolve()
      })
    }
  }

  function nextRequests(): Waiting[] {
    let events = 0
    let bytes = 0
    let count = 0
    for (const next of waiting) {
      const isFull = events + next.events > FLUSH_EVENTS_MAX || bytes + next.bytes > FLUSH_BYTES_MAX
      if (count > 0 && isFull) break
      events += next.events
      bytes += next.bytes
      count++
    }
    waitingEvents -= events
    waitingBytes -= bytes
    return waiting.splice(0, count)
  }

  async function flush(requests: Waiting[]): Promise<void> {
    try {
      const groups = requests.flatMap((request) => request.groups)
      const committed = await commit(groups)
      if (committed) {
        projector.add(committed)
        onRecorded?.(groups)
      }
      for (const { resolve } of requests) resolve()
    } catch (error) {
      if (requests.length > 1 && !(error instanceof ServiceError)) {
        // A request that PostgreSQL rejects must not fail the others.
        log.warn({ err: error }, 'a flush failed; its requests are committed one by one')
        await Promise.all(requests.map((single) => flush([single])))
        return
      }
      for (const { reject } of requests) reject(error)
    }
  }

  /** Commits all groups at once. @returns the rows to project, or null if every event was a repetition. */
  async function commit(groups: EventGroup[]): Promise<JournalRow | null> {
    const stop = metrics.journalFlushSeconds.startTimer()
    const makePart = await preparePart(new Set(groups.map(({ tenantId }) => tenantId)))
    const client = await pool.connect().catch((cause: unknown) => {
      throw storeUnavailable('PostgreSQL', cause)
    })
    let failure: Error | undefined
    try {
      return (await commitAtOnce(client, groups, makePart)) ?? (await commitChecked(client, groups, makePart))
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      throw asUnavailable(failure) ?? failure
    } finally {
      // A connection that failed is closed instead of reused.
      client.release(failure)
      stop()
    }
  }

  /** The usual case: all ids are new and no visitor's owner has changed. @returns null otherwise. */
  async function commitAtOnce(
    client: pg.PoolClient,
    groups: EventGroup[],
    makePart: MakePart,
  ): Promise<JournalRow | null> {
    const visitors = knownVisitors.guess(distinctVisitors(groups))
    assignOwners(groups, visitors)
    const events = groups.flatMap((group) => group.events)
    const row = rowOf(events)
    const what = { visitors: withBeginnings(visitors, groups), groups, part: makePart(events) }
    const written = await writeAtOnce(client, visitorStatements, {
      ...row,
      ...what,
      eventCount: events.length,
      now: clock(),
    })
    if (!written) return null
    metrics.eventsAccepted.inc(events.length)
    return row
  }

  /** The slow path, a transaction: removes repetitions and reads the visitors' owners. */
  async function commitChecked(
    client: pg.PoolClient,
    groups: EventGroup[],
    makePart: MakePart,
  ): Promise<JournalRow | null> {
    const now = clock()
    await client.query('BEGIN')
    const events = await removeRepeated(client, groups, now)
    const visitors = await readVisitors(client, visitorStatements, groups)
    assignOwners(groups, visitors)
    const row = rowOf(events)
    // The ids are stored and the visitors were just read; only the rest remains to be written.
    const rest = groups.map((group) => ({ ...group, sentIds: [] }))
    const what = { visitors: withBeginnings(visitors, groups), groups: rest, part: makePart(events) }
    const written =
      events.length === 0 ||
      (await writeAtOnce(client, visitorStatements, { ...row, ...what, eventCount: events.length, now }))
    await client.query(written ? 'COMMIT' : 'ROLLBACK')
    // A visitor was identified between the two statements.
    if (!written) return commitChecked(client, groups, makePart)
    knownVisitors.learn(visitors)
    metrics.eventsAccepted.inc(events.length)
    metrics.eventsRepeated.inc(groups.reduce((sum, group) => sum + group.events.length, 0) - events.length)
    return events.length > 0 ? row : null
  }

  return {
    record: (groups) =>
      new Promise<void>((resolve, reject) => {
        const events = groups.reduce((sum, group) => sum + group.events.length, 0)
        const bytes = groups.reduce((sum, group) => sum + sizeOf(group), 0)
        if (waitingEvents + events > WAITING_EVENTS_MAX || waitingBytes + bytes > WAITING_BYTES_MAX) {
          const message = 'Too many events are waiting to be written. Send them again shortly.'
          reject(new ServiceError(503, 'overloaded', message, { retryAfterSeconds: 1 }))
          return
        }
        waitingEvents += events
        waitingBytes += bytes
        waiting.push({ groups, events, bytes, resolve, reject })
        startFlushes()
      }),
    drain: () =>
      flushes === 0 && waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve)),
  }
}

function rowOf(events: readonly EventRecord[]): JournalRow {
  return { journalId: newId(), table: 'events', rows: serializeEvents(events) }
}

const REMEMBERED = 100_000

/** A cache of visitors that are, or once were, identified. It may be stale: every flush has PostgreSQL check it. */
interface KnownVisitors {
  guess(visitors: FlushVisitor[]): FlushVisitor[]
  learn(visitors: readonly FlushVisitor[]): void
}

function createKnownVisitors(): KnownVisitors {
  const known = new Map<string, Pick<FlushVisitor, 'contactId' | 'episode'>>()
  return {
    guess: (visitors) =>
      visitors.map((visitor) => ({
        ...visitor,
        ...known.get(visitorKey(visitor.tenantId, visitor.visitorId)),
      })),
    learn: (visitors) => {
      if (known.size + visitors.length > REMEMBERED) known.clear()
      for (const { tenantId, visitorId, contactId, episode } of visitors) {
        const key = visitorKey(tenantId, visitorId)
        if (contactId === null && episode === 0) known.delete(key)
        else known.set(key, { contactId, episode })
      }
    },
  }
}
