import type { Expression, ExpressionBuilder, Selectable, SqlBool } from 'kysely'
import { notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { isUuid } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { retryAt } from './queue/finish.ts'
import type { WebhookDelivery } from './schema.ts'
import { requireSubscription } from './subscriptions.ts'

/**
 * A condition on the status of a subscription's deliveries. The few pending and failed ones are read from the queue and
 * from an index of failed last attempts, which contain no others.
 */
export function hasStatus(subscriptionId: string, status: WebhookDelivery['status']) {
  return (eb: ExpressionBuilder<TenantTables, 'webhook_deliveries'>): Expression<SqlBool> => {
    const pending = eb
      .selectFrom('webhook_queue')
      .select(({ fn }) => fn<string>('unnest', ['delivery_ids']).as('delivery_id'))
      .where('subscription_id', '=', subscriptionId)
    const failed = eb
      .selectFrom('webhook_attempts')
      .select('delivery_id')
      .where('subscription_id', '=', subscriptionId)
      .where('is_last', '=', true)
      .where('error', 'is not', null)
    if (status === 'pending') return eb('delivery_id', 'in', pending)
    if (status === 'failed') return eb('delivery_id', 'in', failed)
    return eb.and([eb('delivery_id', 'not in', pending), eb('delivery_id', 'not in', failed)])
  }
}

/** A page of a subscription's deliveries with every attempt, newest first, and how many there are. @throws ServiceError 404 */
export async function listDeliveries(
  tenant: Tenant,
  subscriptionId: string,
  status: WebhookDelivery['status'] | undefined,
  page: Page,
): Promise<{ deliveries: WebhookDelivery[]; total: number }> {
  const { subscription_id } = await requireSubscription(tenant, subscriptionId)
  let query = tenant.db.selectFrom('webhook_deliveries').where('subscription_id', '=', subscription_id)
  if (status) query = query.where(hasStatus(subscription_id, status))
  const [rows, counted] = await Promise.all([
    query
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('delivery_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    query.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ])
  return { deliveries: await withAttempts(tenant, rows), total: counted.count }
}

/** @throws ServiceError 404, also for a delivery of another subscription. */
export async function readDelivery(
  tenant: Tenant,
  subscriptionId: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const { delivery_id, subscription_id } = await requireDelivery(tenant, deliveryId)
  if (subscription_id !== subscriptionId.toLowerCase()) throw notFound('webhook delivery')
  const rows = await tenant.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('delivery_id', '=', delivery_id)
    .execute()
  const [delivery] = await withAttempts(tenant, rows)
  if (!delivery) throw notFound('webhook delivery')
  return delivery
}

type Row = Selectable<TenantTables['webhook_deliveries']>

async function withAttempts(tenant: Tenant, rows: readonly Row[]): Promise<WebhookDelivery[]> {
  const attempts = await attemptsOf(
    tenant,
    rows.map((row) => row.delivery_id),
  )
  return rows.map((row) => {
    const all = attempts.get(row.delivery_id) ?? []
    return {
      delivery_id: row.delivery_id,
      subscription_id: row.subscription_id,
      event_id: row.event_id,
      event: row.event,
      is_test: row.is_test,
      ...stateOf(row, all),
      attempt_count: all.at(-1)?.attempt ?? 0,
      created_at: row.created_at.toISOString(),
      payload: row.payload,
      attempts: all.map(({ is_last: _, ...attempt }) => attempt),
    }
  })
}

/** The state of a delivery, from the attempts since it was last sent again. */
function stateOf(
  { attempts_before: before, due_at: dueAt }: Pick<Row, 'attempts_before' | 'due_at'>,
  attempts: readonly Logged[],
): Pick<WebhookDelivery, 'status' | 'next_attempt_at' | 'finished_at'> {
  const last = attempts.at(-1)
  if (!last || last.attempt <= before) {
    return { status: 'pending', next_attempt_at: dueAt.toISOString(), finished_at: null }
  }
  const endedAt = new Date(Date.parse(last.at) + last.latency_ms)
  if (last.is_last) {
    const status = last.error === null ? 'succeeded' : 'failed'
    return { status, next_attempt_at: null, finished_at: endedAt.toISOString() }
  }
  // A due time after the last attempt means that the next one was brought forward.
  const next = dueAt > endedAt ? dueAt : retryAt(endedAt, last.attempt - before)
  return { status: 'pending', next_attempt_at: next?.toISOString() ?? null, finished_at: null }
}

/** Finds the delivery with an id. @throws ServiceError 404 */
export async function requireDelivery(tenant: Tenant, deliveryId: string) {
  const row = isUuid(deliveryId)
    ? await tenant.db
        .selectFrom('webhook_deliveries')
        .select(['delivery_id', 'subscription_id'])
        .where('delivery_id', '=', deliveryId.toLowerCase())
        .executeTakeFirst()
    : undefined
  if (!row) throw notFound('webhook delivery')
  return row
}

/** An attempt, and whether it was the last. */
type Logged = WebhookDelivery['attempts'][number] & { is_last: boolean }

async function attemptsOf(tenant: Tenant, deliveryIds: string[]): Promise<Map<string, Logged[]>> {
  if (deliveryIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('webhook_attempts')
    .select(['delivery_id', 'attempt', 'at', 'latency_ms', 'status_code', 'body', 'error', 'address', 'is_last'])
    .where('delivery_id', 'in', deliveryIds)
    .orderBy('delivery_id')
    .orderBy('attempt')
    .execute()
  const groups = Map.groupBy(rows, (row) => row.delivery_id)
  return new Map(
    [...groups].map(([deliveryId, group]) => [
      deliveryId,
      group.map(({ delivery_id: _, at, ...attempt }) => ({ ...attempt, at: at.toISOString() })),
    ]),
  )
}
