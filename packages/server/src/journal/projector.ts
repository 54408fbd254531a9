import { sql } from 'kysely'
import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { every } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { JournalRow } from './append.ts'
import { JOURNAL_FORMAT } from './event-record.ts'
import { countRefused, insertEach, isRefused, isUnreadable, setAsideIncomplete } from './refused.ts'

/** A row of another process that is older than this is taken to be forgotten, and is projected here. */
const FORGOTTEN_AFTER_SECONDS = 5
const SWEEP_EVERY_MS = 1_000
/** Rows that one sweep takes at a time: they are held in memory and locked. */
const SWEEP_ROWS = 8
/** How long a request waits for ClickHouse unless told otherwise; its events are durable in the journal by then. */
const ANSWER_WITHIN_MS = 1_000
/** Finished rows are deleted together. */
const DELETE_EVERY_MS = 20

export interface Projector {
  /**
   * Writes one committed journal row to ClickHouse. Resolves when it is readable, or after a second at most when
   * ClickHouse is away: the row is durable, and a sweep repeats what failed. Never rejects.
   */
  project(row: JournalRow): Promise<void>
  /** Projects every row that is there now, forgotten or not. */
  drain(): Promise<void>
  /** Ends the sweeps and waits for what is under way. */
  stop(): Promise<void>
}

interface Dependencies {
  database: Database
  clickhouse: ClickHouse
  log: Logger
  metrics: Metrics
  answerWithinMs?: number | undefined
}

/**
 * Carries journal rows to ClickHouse. The row's id is the insertion's token, so a row that is projected twice (after a
 * crash between the two engines, or by two processes at once) is recorded once.
 */
export function startProjector({
  database,
  clickhouse,
  log,
  metrics,
  answerWithinMs = ANSWER_WITHIN_MS,
}: Dependencies): Projector {
  const dependencies = { database, clickhouse, log }
  const finished: string[] = []
  const underWay = new Set<Promise<void>>()
  /** Rows that ClickHouse refused, with the insertions that had succeeded by then. */
  const refused = new Map<string, number>()
  let insertions = 0
  let away = false
  let stopped = false

  /** `refused`: ClickHouse rejected the row and may accept others. `away`: it accepts none. */
  async function insert(row: JournalRow): Promise<'inserted' | 'refused' | 'away'> {
    try {
      await insertOnce(row)
      insertions++
      refused.delete(row.journalId)
      if (away) log.info('ClickHouse answers again')
      away = false
      return 'inserted'
    } catch (error) {
      metrics.projectionFailures.inc()
      if (isRefused(error)) {
        if (!refused.has(row.journalId)) {
          log.error({ err: error, journal_id: row.journalId }, 'ClickHouse refuses a journal row; it is tried again')
          refused.set(row.journalId, insertions)
        }
        return 'refused'
      }
      if (!away) log.error({ err: error }, 'ClickHouse does not take events; they wait in the journal')
      away = true
      return 'away'
    }
  }

  async function insertOnce(row: JournalRow): Promise<void> {
    try {
      await clickhouse.insert('events', JOURNAL_FORMAT, row.rows, row.journalId)
    } catch (error) {
      // ClickHouse has accepted other rows since it last refused this one, so the cause is in the row.
      const isAlone = isRefused(error) && insertions > (refused.get(row.journalId) ?? insertions)
      if (!isAlone && !isUnreadable(error)) throw error
      await insertEach(dependencies, row, isAlone ? isRefused : isUnreadable)
    }
  }

  async function insertAndFinish(row: JournalRow): Promise<void> {
    if ((await insert(row)) === 'inserted') finished.push(row.journalId)
  }

  function tracked(work: Promise<void>): Promise<void> {
    underWay.add(work)
    return work.finally(() => underWay.delete(work))
  }

  /** Rows that are in ClickHouse leave the journal. Losing this to a crash only means a projection that changes nothing. */
  async function deleteFinished(): Promise<void> {
    if (finished.length === 0) return
    const ids = finished.splice(0)
    try {
      await database.transaction().execute(async (transaction) => {
        // A deletion that a power cut undoes is harmless, so it need not wait for the disk.
        await sql`SET LOCAL synchronous_commit = off`.execute(transaction)
        await transaction.deleteFrom('journal').where('journal_id', 'in', ids).execute()
      })
    } catch (error) {
      log.warn({ err: error }, 'finished journal rows could not be deleted; they will be swept')
    }
  }

  /** @returns whether there may be more rows. */
  async function sweep(olderThanSeconds: number, which: 'fresh' | 'refused'): Promise<boolean> {
    return database.transaction().execute(async (transaction) => {
      const known = [...refused.keys()]
      const rows = await transaction
        .selectFrom('journal')
        .select(['journal_id', 'rows', 'event_count'])
        .where('created_at', '<=', sql<Date>`now() - make_interval(secs => ${olderThanSeconds})`)
        .where(sql<boolean>`(journal_id = ANY(${known}::uuid[])) = ${which === 'refused'}`)
        .orderBy('journal_id')
        .limit(SWEEP_ROWS)
        .forUpdate()
        .skipLocked()
        .execute()
      const done: string[] = []
      for (const { journal_id: journalId, rows: text, event_count: eventCount } of rows) {
        const row = { journalId, rows: text }
        const outcome = (await setAsideIncomplete(dependencies, { ...row, eventCount }))
          ? 'inserted'
          : await insert(row)
        if (outcome === 'inserted') done.push(journalId)
        if (outcome === 'away') break
      }
      if (done.length > 0) await transaction.deleteFrom('journal').where('journal_id', 'in', done).execute()
      // Another process has handled rows that are gone.
      if (which === 'refused' && rows.length < SWEEP_ROWS) {
        for (const id of known.filter((id) => !rows.some((row) => row.journal_id === id))) refused.delete(id)
      }
      return rows.length === SWEEP_ROWS && !away
    })
  }

  async function sweepAll(olderThanSeconds: number): Promise<void> {
    while (!stopped && (await sweep(olderThanSeconds, 'fresh')));
    // After the others, which show whether ClickHouse accepts anything.
    if (!stopped && refused.size > 0 && !away) await sweep(olderThanSeconds, 'refused')
  }

  const sweeping = every(SWEEP_EVERY_MS, async () => {
    try {
      await sweepAll(FORGOTTEN_AFTER_SECONDS)
      const { rows } = await database
        .selectFrom('journal')
        .select(({ fn }) => fn.countAll().as('rows'))
        .executeTakeFirstOrThrow()
      metrics.journalDepth.set(Number(rows))
      metrics.eventsSetAside.set(await countRefused(database))
    } catch (error) {
      log.warn({ err: error }, 'the journal could not be swept')
    }
  })
  const deleting = every(DELETE_EVERY_MS, deleteFinished)

  return {
    project: (row) => {
      // While ClickHouse is away a request would wait in vain; the sweep finds out when it is back.
      if (away) return Promise.resolve()
      return atMost(answerWithinMs, tracked(insertAndFinish(row)))
    },
    drain: () => sweepAll(0),
    stop: async () => {
      stopped = true
      await sweeping.stop()
      await deleting.stop()
      await Promise.all(underWay)
      await deleteFinished()
    },
  }
}

async function atMost(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([work, limit])
  clearTimeout(timer)
}
