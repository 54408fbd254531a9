import { sql } from 'kysely'
import { validationError } from '../platform/errors.ts'
import { isUuid } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { hasStatus } from './deliveries.ts'
import { bringForward } from './queue/bring-forward.ts'
import { queueAgain, requireActive } from './resend.ts'

/** Which deliveries of a range are sent again. */
export const RESENT = ['failed', 'waiting', 'all'] as const
export type Resent = (typeof RESENT)[number]

/**
 * The deliveries that one call looks at. It locks them in one transaction, and workers that record attempts of the same
 * deliveries wait for it.
 */
export const RESENT_AT_ONCE = 5_000

export interface ResendRange {
  from: Date
  to: Date
  only: Resent
  /** The `next` of the previous call. */
  after: string | null
}

/**
 * Sends deliveries of a subscription again whose events were received in a range of time, both ends included. Those
 * that are due or being sent stay as they are, so none is attempted twice at once.
 * @param tx a transaction's handle.
 * @returns how many, and where the next call continues; null if nothing is left.
 * @throws ServiceError 404, 400 for an unknown `after`, or 409 `webhook_paused`.
 */
export async function resendRange(
  tx: Tenant,
  subscriptionId: string,
  range: ResendRange,
  now: Date,
): Promise<{ resent: number; next: string | null }> {
  const { subscription_id } = await requireActive(tx, subscriptionId)
  const rows = await lockDeliveries(tx, subscription_id, range, now)
  const ids = rows.map(({ delivery_id }) => delivery_id)
  const queued =
    range.only === 'waiting'
      ? 0
      : await queueAgain(tx, (eb) => eb('delivery_id', '=', sql<string>`any(${ids}::uuid[])`), now)
  const forward = range.only === 'failed' ? 0 : await bringForward(tx, subscription_id, ids, now)
  const last = rows.length === RESENT_AT_ONCE ? rows.at(-1) : undefined
  return { resent: queued + forward, next: last ? positionOf(last) : null }
}

/**
 * Locks wanted deliveries of a range, before their queue rows: that is the order in which all code locks them. Those
 * without a payload were never attempted. They are due, so they are left out, and the worker that stores their payloads
 * never waits for this. One that is due later than `now` was sent again by a call that came first, with a later time:
 * it must not count twice.
 */
function lockDeliveries(tx: Tenant, subscriptionId: string, { from, to, only, after }: ResendRange, now: Date) {
  let query = tx.db
    .selectFrom('webhook_deliveries')
    .select(['delivery_id', 'created_at'])
    .where('subscription_id', '=', subscriptionId)
    .where('created_at', '>=', from)
    .where('created_at', '<=', to)
    .where('payload', 'is not', null)
    .where('due_at', '<=', now)
    .limit(RESENT_AT_ONCE)
    .forUpdate('webhook_deliveries')
  const position = after === null ? null : parsePosition(after)
  // What this call moves no longer waits, so the next one needs no order to go on, and none has to read all that waits.
  if (only === 'waiting') {
    return query.where((eb) => eb('delivery_id', 'in', waitingOf(tx, subscriptionId, now))).execute()
  }
  if (only === 'failed') query = query.where(hasStatus(subscriptionId, 'failed'))
  if (position !== null) {
    const { createdAt, deliveryId } = position
    query = query.where(sql<boolean>`(created_at, delivery_id) > (${createdAt}, ${deliveryId}::uuid)`)
  }
  return query.orderBy('created_at').orderBy('delivery_id').execute()
}

/** The deliveries that wait for a retry: neither due nor being sent. */
function waitingOf(tx: Tenant, subscriptionId: string, now: Date) {
  return tx.db
    .selectFrom('webhook_queue')
    .select(({ fn }) => fn<string>('unnest', ['delivery_ids']).as('delivery_id'))
    .where('subscription_id', '=', subscriptionId)
    .where('due_at', '>', now)
    .where('is_claimed', '=', false)
}

function positionOf({ created_at, delivery_id }: { created_at: Date; delivery_id: string }): string {
  return `${created_at.toISOString()}_${delivery_id}`
}

const POSITION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_(.+)$/

function parsePosition(after: string): { createdAt: Date; deliveryId: string } {
  const [, time = '', deliveryId = ''] = POSITION.exec(after) ?? []
  const createdAt = new Date(time)
  if (!Number.isNaN(createdAt.getTime()) && isUuid(deliveryId)) return { createdAt, deliveryId }
  throw validationError([{ path: 'after', message: 'must be the `next` of an earlier response' }])
}
