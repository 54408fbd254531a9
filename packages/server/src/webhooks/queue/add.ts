import { CompiledQuery, sql } from 'kysely'
import type { Tenant } from '../../platform/tenant.ts'

/**
 * Deliveries of one subscription that share a queue row. More would save rows, but each time the attempts of some are
 * recorded, the rest of the row is rewritten.
 */
export const DELIVERIES_PER_ROW = 64
/** The channel of PostgreSQL that is notified when deliveries may have become due. */
export const WORK_CHANNEL = 'cds_webhook_work'
/** Wakes the workers of all processes when the transaction commits. Equal notifications of a transaction are sent once. */
export const NOTIFY_WORKERS = `pg_notify('${WORK_CHANNEL}', '')`

/** A delivery to add. */
export interface NewDelivery {
  tenantId: string
  deliveryId: string
  subscriptionId: string
  eventId: string
  event: string
  /** The event as JSON, from which the payload is made before the first attempt; null if there is a payload. */
  record: string | null
  payload: string | null
  isTest: boolean
  /** When its event was received. */
  createdAt: Date
}

/**
 * The common table expressions that insert deliveries and queue them, for one tenant or for all. They are the only SQL
 * that inserts into `webhook_deliveries`.
 *
 * A subscription may have been paused or deleted since it was cached; its deliveries are left out. A delivery is due at
 * once, although an imported event may have been received later than this machine's clock shows. PostgreSQL computes
 * RETURNING for each row although no query reads `queued`.
 */
export function insertDeliveries(firstParameter: number): string {
  const types = ['uuid', 'uuid', 'uuid', 'uuid', 'text', 'text', 'text', 'boolean', 'timestamptz']
  const columns = types.map((type, index) => `$${firstParameter + index}::${type}[]`)
  return `delivered AS (
      INSERT INTO webhook_deliveries
        (tenant_id, delivery_id, subscription_id, event_id, event, record, payload, is_test, due_at, created_at)
      SELECT tenant_id, delivery_id, subscription_id, event_id, event, record, payload, is_test,
        least(created_at, now()), created_at
      FROM unnest(${columns.join(', ')})
        AS delivery (tenant_id, delivery_id, subscription_id, event_id, event, record, payload, is_test, created_at)
      WHERE EXISTS (SELECT FROM webhook_subscriptions AS subscription WHERE subscription.tenant_id = delivery.tenant_id
        AND subscription.subscription_id = delivery.subscription_id AND subscription.paused_at IS NULL)
      RETURNING tenant_id, subscription_id, delivery_id, due_at
    ), queued AS (
      INSERT INTO webhook_queue (tenant_id, subscription_id, due_at, batch_id, attempt, delivery_ids)
      SELECT tenant_id, subscription_id, min(due_at), gen_random_uuid(), 1, array_agg(delivery_id ORDER BY delivery_id)
      FROM (
        SELECT *, (row_number() OVER (PARTITION BY tenant_id, subscription_id ORDER BY delivery_id) - 1) / ${DELIVERIES_PER_ROW} AS batch
        FROM delivered
      ) AS numbered
      GROUP BY tenant_id, subscription_id, batch
      RETURNING ${NOTIFY_WORKERS}
    )`
}

/** The parameters of `insertDeliveries`. */
export function deliveryValues(deliveries: readonly NewDelivery[]): unknown[] {
  const column = <T>(value: (delivery: NewDelivery) => T) => deliveries.map(value)
  return [
    column(({ tenantId }) => tenantId),
    column(({ deliveryId }) => deliveryId),
    column(({ subscriptionId }) => subscriptionId),
    column(({ eventId }) => eventId),
    column(({ event }) => event),
    column(({ record }) => record),
    column(({ payload }) => payload),
    column(({ isTest }) => isTest),
    column(({ createdAt }) => createdAt.toISOString()),
  ]
}

/**
 * Adds deliveries in the caller's transaction, if it has one.
 * @returns how many; those of paused and deleted subscriptions are left out.
 */
export async function addDeliveries(tenant: Tenant, deliveries: readonly NewDelivery[]): Promise<number> {
  if (deliveries.length === 0) return 0
  const text = `WITH ${insertDeliveries(1)} SELECT count(*)::integer AS added FROM delivered`
  const query = CompiledQuery.raw(text, deliveryValues(deliveries))
  const { rows } = await tenant.unrestricted.executeQuery<{ added: number }>(query)
  return rows[0]?.added ?? 0
}

/** Wakes the workers of all processes when the caller's transaction commits. */
export async function wakeWorkers(tx: Tenant): Promise<void> {
  await sql`SELECT ${sql.raw(NOTIFY_WORKERS)}`.execute(tx.db)
}
