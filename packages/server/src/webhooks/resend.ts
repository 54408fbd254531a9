import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { conflict, notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { samplePayload } from './catalogue.ts'
import { hasStatus, requireDelivery } from './deliveries.ts'
import { requireSubscription } from './subscriptions.ts'

/** A delivery moves while it is taken or written down, seldom twice in a row. */
const LOOKS_MAX = 20

/**
 * Sends a delivery now. A finished one is sent again: the same bytes, six attempts anew, the log continued. The next
 * attempt of one that still retries is brought forward; one that is due, or being sent at this moment, stays as it is. So
 * it is never attempted twice at once. Call it in a transaction.
 * @throws ServiceError 404, or 409 `webhook_paused` or `delivery_moving`.
 */
export async function resendDelivery(tx: Tenant, deliveryId: string, now: Date): Promise<void> {
  const { delivery_id, subscription_id } = await requireDelivery(tx, deliveryId)
  await requireAwake(tx, subscription_id)
  // Whoever else sends it again waits.
  const locked = await tx.db
    .selectFrom('webhook_deliveries')
    .select('delivery_id')
    .where('delivery_id', '=', delivery_id)
    .forUpdate()
    .executeTakeFirst()
  if (!locked) throw notFound('webhook delivery')
  for (let look = 0; look < LOOKS_MAX; look++) {
    if (await bringForward(tx, { delivery_id, subscription_id }, now)) return
    if ((await again(tx, now, (query) => query.where('delivery_id', '=', delivery_id).where(isFinished))) > 0) return
    // A worker has taken it, or written an attempt down, since the look at the queue.
  }
  throw conflict('delivery_moving', 'This delivery is being sent at this moment. Try again shortly.')
}

/**
 * Sends again all failed deliveries of a subscription whose events came in a range of time, its ends included.
 * @returns how many. @throws ServiceError 404, or 409 `webhook_paused`.
 */
export async function resendFailed(
  tenant: Tenant,
  subscriptionId: string,
  { from, to }: { from: Date; to: Date },
  now: Date,
): Promise<number> {
  const { subscription_id } = await requireAwake(tenant, subscriptionId)
  return again(tenant, now, (query) =>
    query
      .where('subscription_id', '=', subscription_id)
      .where(hasStatus(subscription_id, 'failed'))
      .where(isFinished)
      .where('created_at', '>=', from)
      .where('created_at', '<=', to),
  )
}

/** Sends a sample of the subscription's event. @returns the delivery's id. @throws ServiceError 404, 409 */
export async function sendTest(tenant: Tenant, subscriptionId: string, now: Date): Promise<string> {
  const { subscription_id, event } = await requireAwake(tenant, subscriptionId)
  const deliveryId = newId()
  const eventId = newId()
  await tenant.db
    .insertInto('webhook_deliveries')
    .values({
      delivery_id: deliveryId,
      subscription_id,
      event_id: eventId,
      event,
      payload: samplePayload(tenant.id, subscription_id, event, eventId, now),
      is_test: true,
      due_at: now,
      created_at: now,
    })
    .execute()
  return deliveryId
}

/**
 * Moves a delivery that waits into a row of the queue that is due now. The number of its next attempt stays.
 * @returns false when it is in no row: it is finished, or a worker has moved it.
 */
async function bringForward(
  tx: Tenant,
  { delivery_id, subscription_id }: { delivery_id: string; subscription_id: string },
  now: Date,
): Promise<boolean> {
  // Waits for a worker that is taking the row or writing an attempt down.
  const row = await tx.db
    .selectFrom('webhook_queue')
    .select(['due_at', 'batch_id', 'attempt', 'is_leased'])
    .where('subscription_id', '=', subscription_id)
    .where(sql<boolean>`${delivery_id}::uuid = ANY (delivery_ids)`)
    .forUpdate()
    .executeTakeFirst()
  if (!row) return false
  if (row.is_leased || row.due_at <= now) return true
  const left = await tx.db
    .updateTable('webhook_queue')
    .set({ delivery_ids: sql`array_remove(delivery_ids, ${delivery_id}::uuid)` })
    .where('subscription_id', '=', subscription_id)
    .where('due_at', '=', row.due_at)
    .where('batch_id', '=', row.batch_id)
    .returning('delivery_ids')
    .executeTakeFirstOrThrow()
  if (left.delivery_ids.length === 0) {
    await tx.db
      .deleteFrom('webhook_queue')
      .where('subscription_id', '=', subscription_id)
      .where('due_at', '=', row.due_at)
      .where('batch_id', '=', row.batch_id)
      .execute()
  }
  await tx.db
    .insertInto('webhook_queue')
    .values({ subscription_id, due_at: now, batch_id: newId(), attempt: row.attempt, delivery_ids: [delivery_id] })
    .execute()
  await tx.db.updateTable('webhook_deliveries').set({ due_at: now }).where('delivery_id', '=', delivery_id).execute()
  await sql`SELECT pg_notify('cds_webhook_work', '')`.execute(tx.db)
  return true
}

/**
 * Whether its last attempt was the last one that it gets. The number is compared for who sends it again at the same moment:
 * PostgreSQL looks again at the delivery's own row only.
 */
function isFinished(eb: ExpressionBuilder<TenantTables, 'webhook_deliveries'>): Expression<SqlBool> {
  return eb.exists(
    eb
      .selectFrom('webhook_attempts')
      .whereRef('webhook_attempts.delivery_id', '=', 'webhook_deliveries.delivery_id')
      .whereRef('attempt', '>', 'attempts_before')
      .where('is_last', '=', true),
  )
}

type Resend = ReturnType<typeof resendQuery>

/** A trigger puts what is sent again into the queue. */
function resendQuery(tenant: Tenant, now: Date) {
  return tenant.db.updateTable('webhook_deliveries').set((eb) => ({
    due_at: now,
    attempts_before: eb
      .selectFrom('webhook_attempts')
      .select(({ fn }) => fn.max<number>('attempt').as('attempt'))
      .whereRef('webhook_attempts.delivery_id', '=', 'webhook_deliveries.delivery_id'),
  }))
}

async function again(tenant: Tenant, now: Date, which: (query: Resend) => Resend): Promise<number> {
  const { numUpdatedRows } = await which(resendQuery(tenant, now)).executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

async function requireAwake(tenant: Tenant, subscriptionId: string) {
  const row = await requireSubscription(tenant, subscriptionId)
  if (row.paused_at !== null) throw conflict('webhook_paused', 'The subscription is paused. Resume it first.')
  return row
}
