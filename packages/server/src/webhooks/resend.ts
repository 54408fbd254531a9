import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { conflict, notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { samplePayload } from './catalogue.ts'
import { requireDelivery } from './deliveries.ts'
import { addDeliveries, NOTIFY_WORKERS, wakeWorkers } from './queue/add.ts'
import type { WebhookFormat } from './schema.ts'
import { requireSubscription } from './subscriptions.ts'

/** A worker moves a delivery when it claims it and when it records an attempt, so rarely twice in a row. */
const TRIES_MAX = 20

/**
 * Sends a delivery now. A finished one is sent again: the same bytes, six new attempts, in the same log. One that is
 * being retried makes its next attempt now. One that is due or being sent stays as it is, so it is never attempted twice
 * at once. Call it in a transaction.
 * @throws ServiceError 404, or 409 `webhook_paused` or `delivery_moving`.
 */
export async function resendDelivery(tx: Tenant, deliveryId: string, now: Date): Promise<void> {
  const { delivery_id, subscription_id } = await requireDelivery(tx, deliveryId)
  await requireActive(tx, subscription_id)
  // Concurrent calls for this delivery run one after another.
  const locked = await tx.db
    .selectFrom('webhook_deliveries')
    .select('delivery_id')
    .where('delivery_id', '=', delivery_id)
    .forUpdate()
    .executeTakeFirst()
  if (!locked) throw notFound('webhook delivery')
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (await bringForward(tx, { delivery_id, subscription_id }, now)) return
    if ((await queueAgain(tx, (eb) => eb('delivery_id', '=', delivery_id), now)) > 0) return
    // A worker has claimed the delivery or recorded an attempt since the queue was read.
  }
  throw conflict('delivery_moving', 'This delivery is being sent right now. Try again shortly.')
}

/** Sends a sample of the subscription's event. @returns the delivery's id. @throws ServiceError 404, 409 */
export async function sendTest(tenant: Tenant, subscriptionId: string, now: Date): Promise<string> {
  const { subscription_id, event, format, template } = await requireActive(tenant, subscriptionId)
  const recipient = { subscriptionId: subscription_id, format: format as WebhookFormat, template }
  const [deliveryId, eventId] = [newId(), newId()]
  const added = await addDeliveries(tenant, [
    {
      tenantId: tenant.id,
      deliveryId,
      subscriptionId: subscription_id,
      eventId,
      event,
      record: null,
      payload: samplePayload(tenant.id, recipient, event, eventId, now),
      isTest: true,
      createdAt: now,
    },
  ])
  // Paused or deleted since it was read.
  if (added === 0) throw pausedError()
  return deliveryId
}

/**
 * Moves a pending delivery into a queue row that is due now. Its next attempt keeps its number.
 * @returns false if no queue row lists it: it is finished, or a worker has moved it.
 */
async function bringForward(
  tx: Tenant,
  { delivery_id, subscription_id }: { delivery_id: string; subscription_id: string },
  now: Date,
): Promise<boolean> {
  // Waits for a worker that is claiming the row or recording an attempt.
  const row = await tx.db
    .selectFrom('webhook_queue')
    .select(['due_at', 'batch_id', 'attempt', 'is_claimed'])
    .where('subscription_id', '=', subscription_id)
    .where(sql<boolean>`${delivery_id}::uuid = ANY (delivery_ids)`)
    .forUpdate()
    .executeTakeFirst()
  if (!row) return false
  if (row.is_claimed || row.due_at <= now) return true
  const remaining = await tx.db
    .updateTable('webhook_queue')
    .set({ delivery_ids: sql`array_remove(delivery_ids, ${delivery_id}::uuid)` })
    .where('subscription_id', '=', subscription_id)
    .where('due_at', '=', row.due_at)
    .where('batch_id', '=', row.batch_id)
    .returning('delivery_ids')
    .executeTakeFirstOrThrow()
  if (remaining.delivery_ids.length === 0) {
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
  await wakeWorkers(tx)
  return true
}

type Deliveries = ExpressionBuilder<TenantTables, 'webhook_deliveries'>

/**
 * Queues finished deliveries again, each in a row of its own: their next attempts have different numbers. One statement,
 * so that no delivery is ever neither finished nor queued.
 * @returns how many.
 */
export async function queueAgain(
  tenant: Tenant,
  isWanted: (eb: Deliveries) => Expression<SqlBool>,
  now: Date,
): Promise<number> {
  const { count } = await tenant.db
    .with('resent', (db) =>
      db
        .updateTable('webhook_deliveries')
        .set((eb) => ({
          due_at: now,
          attempts_before: eb
            .selectFrom('webhook_attempts')
            .select(({ fn }) => fn.max<number>('attempt').as('attempt'))
            .whereRef('webhook_attempts.delivery_id', '=', 'webhook_deliveries.delivery_id'),
        }))
        .where((eb) => eb.and([isWanted(eb), isFinished(eb)]))
        .returning(['subscription_id', 'delivery_id', 'due_at', 'attempts_before']),
    )
    .with('continued', (db) =>
      db
        .updateTable('webhook_attempts')
        .set({ is_last: false })
        .from('resent')
        .whereRef('webhook_attempts.delivery_id', '=', 'resent.delivery_id')
        .where('is_last', '=', true),
    )
    .with('queued', (db) =>
      db
        .insertInto('webhook_queue')
        .columns(['subscription_id', 'due_at', 'batch_id', 'attempt', 'delivery_ids'])
        .expression((eb) =>
          eb
            .selectFrom('resent')
            .select([
              'subscription_id',
              'due_at',
              sql<string>`gen_random_uuid()`.as('batch_id'),
              sql<number>`attempts_before + 1`.as('attempt'),
              sql<string[]>`ARRAY[delivery_id]`.as('delivery_ids'),
            ]),
        )
        .returning(sql`${sql.raw(NOTIFY_WORKERS)}`.as('notified')),
    )
    .selectFrom('resent')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Whether a delivery's last attempt was the final one. It compares the attempt's number for the case of two concurrent
 * calls: after waiting, PostgreSQL reads only the delivery's own row again.
 */
function isFinished(eb: Deliveries): Expression<SqlBool> {
  return eb.exists(
    eb
      .selectFrom('webhook_attempts')
      .whereRef('webhook_attempts.delivery_id', '=', 'webhook_deliveries.delivery_id')
      .whereRef('attempt', '>', 'attempts_before')
      .where('is_last', '=', true),
  )
}

/** @throws ServiceError 404, or 409 `webhook_paused`. */
export async function requireActive(tenant: Tenant, subscriptionId: string) {
  const row = await requireSubscription(tenant, subscriptionId)
  if (row.paused_at !== null) throw pausedError()
  return row
}

function pausedError() {
  return conflict('webhook_paused', 'The subscription is paused. Resume it first.')
}
