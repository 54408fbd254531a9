import { type Selectable, sql } from 'kysely'
import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { every } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { VisitorMoves } from '../platform/postgres/generated/tables.ts'
import type { Stores } from '../platform/tenant.ts'
import { NO_CONTACT } from './event-record.ts'

const SWEEP_EVERY_MS = 1_000
const MOVES_AT_ONCE = 1_000
/**
 * Until an update has been written into the parts that it touches, those are read without the index on contacts: 250 ms
 * instead of 12 for one contact among 10 million events. Writing it in takes two seconds there.
 */
const SETTLE_EVERY_MS = 300_000
/** Nearly every event that was in flight when its visitor was identified has arrived by then. */
const AGAIN_AFTER_SECONDS = 2
/**
 * A flush that still took the visitor for anonymous began before the identification's commit, and PostgreSQL ends
 * every statement of the service after 30 seconds.
 */
const STALE_FLUSH_SECONDS = 31
/** So at this age, with no journal row left that such a flush can have written, a move is done for good. */
const DONE_AFTER_SECONDS = 45

/** Moves the anonymous events of identified visitors onto their contacts, in ClickHouse. */
export interface EventMover {
  /**
   * Moves what the identified visitors of a tenant have left so far. Never rejects: when ClickHouse is away, a sweep
   * repeats it, as it does for events that were in flight.
   */
  move(tenantId: string): Promise<void>
  /** Repeats every move that is not done for good, now. */
  drain(): Promise<void>
  /** Has ClickHouse write finished updates into its parts, if there were any since the last time. */
  settle(): Promise<void>
  stop(): Promise<void>
}

interface Dependencies {
  database: Database
  clickhouse: ClickHouse
  barrier: Stores['barrier']
  /** The table that updates must name, with ` ON CLUSTER …` where there is one. */
  eventsStorage: string
  log: Logger
  /** Told whose events have changed hands. */
  onMoved?: (tenantId: string, contactIds: string[]) => void
}

type Move = Pick<
  Selectable<VisitorMoves>,
  'tenant_id' | 'move_id' | 'visitor_id' | 'contact_id' | 'received_after' | 'received_until' | 'created_at'
>

/**
 * Starts moving. One statement serves all the moves of a tenant that wait together, because what an update costs
 * ClickHouse hardly depends on how many visitors it names.
 */
export function startEventMover({
  database,
  clickhouse,
  barrier,
  eventsStorage,
  log,
  onMoved,
}: Dependencies): EventMover {
  const waiting = new Map<string, Promise<void>>()
  let last: Promise<void> = Promise.resolve()
  let unsettled = false

  /** Applies the moves that are due, of one tenant or of all. @returns how many there were. */
  async function applyDue(which: { tenantId?: string; notYetDue?: boolean }): Promise<number> {
    return database.transaction().execute(async (transaction) => {
      let query = transaction
        .selectFrom('visitor_moves')
        .select(['tenant_id', 'move_id', 'visitor_id', 'contact_id', 'received_after', 'received_until', 'created_at'])
        .orderBy('tenant_id')
        .orderBy('move_id')
        .limit(MOVES_AT_ONCE)
      if (!which.notYetDue) query = query.where('next_at', '<=', sql<Date>`now()`)
      // A request waits for another process that has its moves in hand; a sweep has nothing to wait for.
      query =
        which.tenantId === undefined
          ? query.forUpdate().skipLocked()
          : query.where('tenant_id', '=', which.tenantId).forUpdate()
      const moves = await query.execute()
      for (const [tenantId, group] of Map.groupBy(moves, (move) => move.tenant_id)) {
        unsettled = true
        await barrier(tenantId)
        await moveEvents(clickhouse, eventsStorage, tenantId, group)
        onMoved?.(tenantId, [...new Set(group.map((move) => move.contact_id))])
      }
      const ids = moves.map((move) => move.move_id)
      if (ids.length > 0) await finishOrRepeat(transaction, ids)
      return moves.length
    })
  }

  async function applyAll(tenantId: string): Promise<void> {
    try {
      while ((await applyDue({ tenantId })) === MOVES_AT_ONCE);
    } catch (error) {
      log.warn({ err: error }, 'the events of identified visitors could not be moved; a sweep repeats it')
    }
  }

  async function settle(): Promise<void> {
    if (!unsettled) return
    unsettled = false
    try {
      await clickhouse.command(`ALTER TABLE ${eventsStorage} APPLY PATCHES`)
    } catch (error) {
      unsettled = true
      log.warn({ err: error }, 'updates of events could not be settled; it is tried again')
    }
  }

  const settling = every(SETTLE_EVERY_MS, settle)
  const sweeping = every(SWEEP_EVERY_MS, async () => {
    try {
      while ((await applyDue({})) === MOVES_AT_ONCE);
    } catch (error) {
      log.warn({ err: error }, 'the events of identified visitors could not be moved; the next sweep tries again')
    }
  })

  return {
    move: (tenantId) => {
      const known = waiting.get(tenantId)
      if (known) return known
      const moved = last.then(() => {
        // Whoever comes from now on has to wait for the next turn: this one may have read the queue already.
        waiting.delete(tenantId)
        return applyAll(tenantId)
      })
      waiting.set(tenantId, moved)
      last = moved
      return moved
    },
    drain: async () => {
      await applyDue({ notYetDue: true })
    },
    settle,
    stop: async () => {
      await settling.stop()
      await sweeping.stop()
      await last
    },
  }
}

async function moveEvents(clickhouse: ClickHouse, storage: string, tenantId: string, moves: Move[]): Promise<void> {
  const update = (to: string, conditions: string) =>
    `UPDATE ${storage} SET contact_id = ${to} WHERE tenant_id = {tenant_id: UUID}
      AND contact_id = toUUID('${NO_CONTACT}') AND ${conditions}`
  const whole = moves.filter((move) => move.received_after === null && move.received_until === null)
  if (whole.length > 0) {
    const to = `toUUID(transform(visitor_id, {visitors: Array(String)}, {contacts: Array(String)}, '${NO_CONTACT}'))`
    await clickhouse.command(update(to, 'visitor_id IN {visitors: Array(String)}'), {
      tenant_id: tenantId,
      visitors: whole.map((move) => move.visitor_id),
      contacts: whole.map((move) => move.contact_id),
    })
  }
  for (const move of moves.filter((each) => !whole.includes(each))) {
    const moment = (name: string) => `parseDateTime64BestEffort({${name}: String}, 3, 'UTC')`
    const bounds = `received_at > ${moment('after')} AND received_at <= ${moment('until')}`
    await clickhouse.command(update('toUUID({contact: String})', `visitor_id = {visitor: String} AND ${bounds}`), {
      tenant_id: tenantId,
      contact: move.contact_id,
      visitor: move.visitor_id,
      after: (move.received_after ?? new Date(0)).toISOString(),
      until: (move.received_until ?? new Date('2200-01-01')).toISOString(),
    })
  }
}

/** Moves that nothing can be left of go; the others are repeated, soon at first. */
async function finishOrRepeat(transaction: Database, moveIds: string[]): Promise<void> {
  const seconds = (count: number) => sql`make_interval(secs => ${count})`
  await transaction
    .deleteFrom('visitor_moves')
    .where('move_id', 'in', moveIds)
    .where(sql<boolean>`created_at <= now() - ${seconds(DONE_AFTER_SECONDS)} AND NOT EXISTS (
      SELECT FROM journal WHERE journal.created_at <= visitor_moves.created_at + ${seconds(STALE_FLUSH_SECONDS)})`)
    .execute()
  await transaction
    .updateTable('visitor_moves')
    .set({
      next_at: sql`CASE WHEN created_at > now() - ${seconds(AGAIN_AFTER_SECONDS)}
        THEN created_at + ${seconds(AGAIN_AFTER_SECONDS)}
        ELSE greatest(created_at + ${seconds(DONE_AFTER_SECONDS)}, now() + ${seconds(AGAIN_AFTER_SECONDS)}) END`,
    })
    .where('move_id', 'in', moveIds)
    .execute()
}
