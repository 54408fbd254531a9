import type pg from 'pg'
import { ServiceError, storeUnavailable } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Clock } from '../platform/time.ts'
import { isConnectionError } from '../platform/postgres/connect.ts'
import type { JournalRow } from './append.ts'
import { type EventRecord, serializeEvents } from './event-record.ts'
import { forgetRepeated, resolveVisitors } from './flush-queries.ts'
import type { Projector } from './projector.ts'

/** What one request to the collector wants recorded. */
export interface Batch {
  tenantId: string
  visitorId: string
  events: EventRecord[]
  /** Ids that the caller chose: an event with one of these is recorded once, however often it is sent. */
  callerIds: string[]
}

/** Events of one flush: more would make the last request wait for a large insert, less would waste commits. */
const FLUSH_EVENTS_MAX = 4_000
/** Flushes at once: while one is written to ClickHouse, the next is committed to PostgreSQL. */
const FLUSHES_MAX = 3
/** Events that may wait in memory; beyond this callers are told to come again, instead of the process running out. */
const WAITING_EVENTS_MAX = 200_000

export interface GroupCommit {
  /**
   * Records a batch. Resolves when its events are durable and, unless ClickHouse is away, readable.
   * @throws ServiceError 503 when PostgreSQL is away or too much is waiting; then nothing of the batch is recorded.
   */
  record(batch: Batch): Promise<void>
  /** Refuses nothing, waits for all that was handed in. */
  drain(): Promise<void>
}

interface Dependencies {
  pool: pg.Pool
  projector: Projector
  clock: Clock
  log: Logger
  metrics: Metrics
}

interface Waiting {
  batch: Batch
  resolve(): void
  reject(error: unknown): void
}

/**
 * Lets requests that arrive close together share one commit. There is no timer: a request that finds a free flush goes
 * at once, and those that come while all are busy go together with the next.
 */
export function createGroupCommit({ pool, projector, clock, log, metrics }: Dependencies): GroupCommit {
  const waiting: Waiting[] = []
  let waitingEvents = 0
  let flushes = 0
  let whenIdle: (() => void)[] = []

  function startFlushes(): void {
    while (waiting.length > 0 && flushes < FLUSHES_MAX) {
      flushes++
      void flush(takeGroup()).finally(() => {
        flushes--
        startFlushes()
        if (flushes === 0) for (const resolve of whenIdle.splice(0)) resolve()
      })
    }
  }

  function takeGroup(): Waiting[] {
    let events = 0
    let count = 0
    for (const { batch } of waiting) {
      if (count > 0 && events + batch.events.length > FLUSH_EVENTS_MAX) break
      events += batch.events.length
      count++
    }
    waitingEvents -= events
    return waiting.splice(0, count)
  }

  async function flush(group: Waiting[]): Promise<void> {
    try {
      const committed = await commit(group.map(({ batch }) => batch))
      if (committed) {
        const stop = metrics.journalFlushSeconds.startTimer({ phase: 'project' })
        await projector.project(committed)
        stop()
      }
      for (const { resolve } of group) resolve()
    } catch (error) {
      if (group.length > 1 && !(error instanceof ServiceError)) {
        // One batch that PostgreSQL refuses must not take the others down with it.
        log.warn({ err: error }, 'a flush failed; its batches are committed one by one')
        await Promise.all(group.map((single) => flush([single])))
        return
      }
      for (const { reject } of group) reject(error)
    }
  }

  /** One transaction for all batches. @returns what is to be projected, or null when every event was a repetition. */
  async function commit(batches: Batch[]): Promise<JournalRow | null> {
    const stop = metrics.journalFlushSeconds.startTimer({ phase: 'commit' })
    const client = await pool.connect().catch((cause: unknown) => {
      throw storeUnavailable('PostgreSQL', cause)
    })
    let failure: Error | undefined
    try {
      await client.query('BEGIN')
      const events = await forgetRepeated(client, batches, clock())
      await resolveVisitors(client, batches, clock())
      metrics.eventsRepeated.inc(batches.reduce((sum, batch) => sum + batch.events.length, 0) - events.length)
      const journalId = newId()
      const rows = events.length > 0 ? serializeEvents(events) : ''
      if (events.length > 0) {
        await client.query({
          name: 'journal.append',
          text: 'INSERT INTO journal (journal_id, event_count, rows) VALUES ($1, $2, $3)',
          values: [journalId, events.length, rows],
        })
      }
      await client.query('COMMIT')
      metrics.eventsAccepted.inc(events.length)
      return events.length > 0 ? { journalId, rows } : null
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      await client.query('ROLLBACK').catch(() => {})
      throw isConnectionError(failure) ? storeUnavailable('PostgreSQL', failure) : failure
    } finally {
      // A connection that failed is thrown away rather than trusted again.
      client.release(failure)
      stop()
    }
  }

  return {
    record: (batch) =>
      new Promise<void>((resolve, reject) => {
        if (waitingEvents + batch.events.length > WAITING_EVENTS_MAX) {
          const message = 'Too many events are waiting to be written. Send them again shortly.'
          reject(new ServiceError(503, 'overloaded', message, { headers: { 'retry-after': '1' } }))
          return
        }
        waitingEvents += batch.events.length
        waiting.push({ batch, resolve, reject })
        startFlushes()
      }),
    drain: () =>
      flushes === 0 && waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve)),
  }
}
