import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { ServiceError, storeUnavailable } from '../platform/errors.ts'
import { every } from '../platform/every.ts'
import { newId } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../platform/postgres/database.ts'
import { inRounds } from '../platform/rounds.ts'
import type { JournalRow } from './append.ts'
import {
  countRows,
  deleteRows,
  formBatch,
  keepAlive,
  lockBatch,
  openBatches,
  openParts,
  splitBatch,
  tenantsOfBatches,
  waitingTenants,
} from './batches.ts'
import { JOURNAL_FORMAT } from './event-record.ts'
import { insertAgain } from './insert-again.ts'
import { type Insertion, insertAll, insertionsOf } from './insertions.ts'
import { type BatchLock, insertDivided, isRefused, isUnreadable, isUnreadableByAsked } from './refused.ts'
import { rememberTexts, textsOf } from './remembered-texts.ts'

/**
 * Delay before events are inserted while there are readers, who would wait for the insertion. Many events are inserted
 * sooner.
 */
const EVERY_MS = 100
/** The delay without readers is longer, because the cost of an insertion hardly depends on its size. */
const UNREAD_EVERY_MS = 1_000
/** How long after a read more reads are expected. */
const READ_WITHIN_MS = 10_000
const MANY_BYTES = 4_000_000
/** How long a lock needs no check: PostgreSQL ends idle sessions, which releases their locks, only much later. */
const LOCKS_FRESH_MS = 1_000
/** How often the journal is checked for rows of other processes. */
const SWEEP_EVERY_MS = 1_000

/** Copies journal rows to ClickHouse, each exactly once. */
export interface Projector {
  /** Adds a row that this process has just committed. Never waits, never throws. */
  add(row: JournalRow): void
  /**
   * Resolves once ClickHouse has all of a tenant's events that any process committed before the call.
   * @throws ServiceError 503 if ClickHouse does not accept them.
   */
  barrier(tenantId: string): Promise<void>
  /** Projects every current row. Never rejects: rows that ClickHouse does not accept stay in the journal. */
  drain(): Promise<void>
  counts(): ProjectionCounts
  /** Projects the rows added by this process, if ClickHouse accepts them, and stops. */
  stop(): Promise<void>
}

export interface ProjectionCounts {
  /** Rows of the journal, as of the last sweep. */
  waiting: number
  /** Events that ClickHouse cannot store, as of the last sweep. */
  setAside: number
  failures: number
}

/** Starts the projection of everything that any process commits to the journal. */
export function startProjector(dependencies: {
  /** A separate pool, because a reader may wait for a batch while it occupies a connection. */
  database: Database
  clickhouse: ClickHouse
  /** The cluster that ClickHouse is, if it is one. */
  cluster: string | null
  log: Logger
}): Projector {
  const { database, clickhouse, cluster, log } = dependencies
  const cannotRead = cluster === null ? isUnreadable : isUnreadableByAsked
  const texts = rememberTexts()
  /** Batches that ClickHouse rejected, with the number of insertions that had succeeded by then. */
  const refused = new Map<string, number>()
  const counts = { waiting: 0, setAside: 0, failures: 0 }
  let insertions = 0
  /** Why ClickHouse currently accepts no insertions; null if it does. */
  let trouble: unknown = null
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let startedAt = 0
  let readAt = Number.NEGATIVE_INFINITY

  /**
   * Inserts a batch and removes it from the journal. @returns whether it was still there: another process may have
   * finished or split it.
   */
  async function projectBatch(batchId: string, isFirst = false): Promise<boolean> {
    const outcome = await database.transaction().execute(async (transaction) => {
      const lockedAt = performance.now()
      const rows = await lockBatch(transaction, batchId)
      if (rows.length === 0) return 'gone'
      const lock = batchLock(transaction, lockedAt, isFirst)
      const complete = await textsOf(texts, lock, rows)
      const isDivided = rows.some((row) => row.isDivided)
      const outcome = complete.size === 0 ? 'finished' : await insert(lock, batchId, complete, isDivided)
      if (outcome === 'split') await splitBatch(transaction, batchId, complete.size === 1)
      const gone = outcome === 'finished' ? rows : rows.filter(({ journalId }) => !complete.has(journalId))
      await deleteRows(
        transaction,
        gone.map(({ journalId }) => journalId),
      )
      for (const { journalId } of gone) texts.forget(journalId)
      return outcome === 'split' ? [...complete.keys()] : outcome
    })
    if (Array.isArray(outcome)) for (const journalId of outcome) await projectBatch(journalId)
    return outcome !== 'gone'
  }

  /** Inserts only while this process still has the locks: if it was suspended, another may have them. */
  function batchLock(transaction: Database, lockedAt: number, isFirst: boolean): BatchLock {
    let checkedAt = lockedAt
    const insert = async ({ table, body, token }: Insertion) => {
      const now = performance.now()
      if (now - checkedAt > LOCKS_FRESH_MS) {
        await keepAlive(transaction)
        checkedAt = now
      }
      await clickhouse.insert(table, JOURNAL_FORMAT, body, token)
    }
    // A replicated table keeps its tokens with its parts.
    if (isFirst || cluster !== null) return { transaction, insert, log }
    return { transaction, insert: (insertion) => insertAgain(clickhouse, insert, insertion), log }
  }

  /** @throws ClickHouse's error if it currently accepts nothing. */
  async function insert(
    lock: BatchLock,
    batchId: string,
    rows: Map<string, JournalRow>,
    isDivided: boolean,
  ): Promise<'finished' | 'split' | 'refused'> {
    const { stored, errors } = isDivided
      ? await insertDivided(lock, [...rows.values()], isFaultOf(batchId) ? isRefused : cannotRead)
      : await insertAll(insertionsOf(batchId, [...rows.values()]), lock.insert)
    if (errors.length === 0) {
      succeed(batchId)
      return 'finished'
    }
    counts.failures++
    // After any other error, it is unknown what ClickHouse has stored.
    const error = errors.find((each) => !isRefused(each)) ?? errors[0]
    if (isRefused(error)) {
      // Stored rows must not be inserted again under the tokens of the parts.
      for (const journalId of stored) rows.delete(journalId)
      return split(batchId, rows, error)
    }
    if (trouble === null) log.error({ err: error }, 'ClickHouse does not accept events; they wait in the journal')
    trouble = error
    throw error
  }

  /** Whether ClickHouse has accepted other batches since it first rejected this one, so the cause is in the batch. */
  function isFaultOf(batchId: string): boolean {
    return cluster === null && insertions > (refused.get(batchId) ?? insertions)
  }

  /**
   * Handles a batch that ClickHouse rejected. Its parts get new tokens, so it is split only if ClickHouse cannot have
   * stored it before: a batch whose insertion was interrupted, and is now rejected like all others, would be recorded
   * twice. In a cluster, some shards may have stored their rows, so a batch waits unless it cannot be parsed at all.
   */
  function split(batchId: string, rows: Map<string, JournalRow>, error: unknown): 'split' | 'refused' {
    const since = refused.get(batchId) ?? insertions
    const isBatchFault = isFaultOf(batchId)
    if (!isBatchFault && !cannotRead(error)) {
      if (!refused.has(batchId)) log.error({ err: error, batch_id: batchId }, 'ClickHouse rejected a batch of events')
      refused.set(batchId, since)
      return 'refused'
    }
    if (isBatchFault) for (const journalId of rows.keys()) refused.set(journalId, since)
    return 'split'
  }

  function succeed(batchId: string): void {
    insertions++
    refused.delete(batchId)
    if (trouble !== null) log.info('ClickHouse accepts events again')
    trouble = null
  }

  async function projectOpen(
    isDue: (refusedAt: number | undefined) => boolean,
    find: (formed: Set<string>) => Promise<string[]> = () => openBatches(database),
  ): Promise<void> {
    const known = [...refused.keys()]
    const formed = new Set<string>()
    const open = await find(formed)
    // Another process has finished the batches that are no longer open.
    for (const batchId of known) if (!open.includes(batchId)) refused.delete(batchId)
    let isAnyGone = false
    for (const batchId of open) {
      if (isDue(refused.get(batchId)) && !(await projectBatch(batchId, formed.has(batchId)))) isAnyGone = true
    }
    if (!isAnyGone) return
    // The other process may have split it, and its parts are still waiting.
    for (const part of await openParts(database)) if (isDue(refused.get(part))) await projectBatch(part)
  }

  const isFresh = (refusedAt: number | undefined) => refusedAt === undefined
  const isDecidable = (refusedAt: number | undefined) => refusedAt !== undefined && refusedAt < insertions

  /** Assigns all waiting rows to batches. @returns the open batches, oldest first. */
  async function form(formed: Set<string>): Promise<string[]> {
    for (;;) {
      const batchId = newId()
      const { isFull, open } = await formBatch(database, batchId)
      formed.add(batchId)
      if (!isFull) return open
    }
  }

  const project = inRounds(async () => {
    startedAt = Date.now()
    // While ClickHouse is down, rows accumulate instead of becoming many small batches.
    if (trouble !== null) await projectOpen(isFresh)
    await projectOpen(isFresh, form)
    // After the others, which show whether ClickHouse accepts anything.
    if (cluster === null && refused.size > 0) await projectOpen(isDecidable)
  })

  const findWaitingTenants = inRounds(() => waitingTenants(database))

  const findRefusedTenants = inRounds(() => tenantsOfBatches(database, [...refused.keys()]))
  const retryRefused = inRounds(() => projectOpen((refusedAt) => !isFresh(refusedAt)))

  function wake(): void {
    if (stopped || trouble !== null) return
    const isSoon = texts.bytes() >= MANY_BYTES
    if (timer && !isSoon) return
    const interval = Date.now() - readAt < READ_WITHIN_MS ? EVERY_MS : UNREAD_EVERY_MS
    clearTimeout(timer)
    timer = setTimeout(
      () => {
        timer = undefined
        project().catch(() => {})
      },
      isSoon ? 0 : Math.max(0, startedAt + interval - Date.now()),
    )
  }

  async function drain(): Promise<void> {
    try {
      await project()
      if (refused.size > 0) await retryRefused()
    } catch (error) {
      log.warn({ err: error }, 'the journal could not be projected; retrying')
    }
  }

  const sweeping = every(SWEEP_EVERY_MS, async () => {
    try {
      Object.assign(counts, await countRows(database))
      if (counts.waiting > 0) await drain()
    } catch (error) {
      log.warn({ err: error }, 'the journal could not be swept')
    }
  })

  return {
    add: ({ journalId, rows }) => {
      texts.add(journalId, rows)
      wake()
    },
    barrier: async (tenantId) => {
      if (!(await findWaitingTenants()).has(tenantId)) return
      readAt = Date.now()
      // The next sweep checks whether it is back; until then, readers would wait for nothing.
      if (trouble !== null) throw asUnavailable(trouble)
      await project().catch((error) => {
        throw asUnavailable(error)
      })
      if (refused.size === 0 || !(await findRefusedTenants()).has(tenantId)) return
      throw asUnavailable(new Error('ClickHouse rejects events of the tenant'))
    },
    drain,
    counts: () => ({ ...counts }),
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await sweeping.stop()
      if (trouble === null) await drain()
    },
  }
}

/** The error for readers: their events are safe, but cannot be read at the moment. */
function asUnavailable(error: unknown): ServiceError {
  return error instanceof ServiceError ? error : storeUnavailable('ClickHouse', error)
}
