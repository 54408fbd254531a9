import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import type { Tenant } from '../../platform/tenant.ts'

/** What identifies a delivery among those of all tenants. */
export interface DeliveryKey {
  tenant_id: string
  delivery_id: string
}

/** Which queue rows list deleted deliveries, and what remains of such a row. */
interface Listing {
  /** A common table expression named `deleted`. */
  deleted: RawBuilder<unknown>
  isListed: RawBuilder<unknown>
  remaining: RawBuilder<unknown>
}

/**
 * Deletes deliveries with their attempts and removes them from the queue. Call it in a transaction, and repeat the
 * transaction if it deadlocks.
 * @returns how many it deleted; a concurrent transaction may have deleted the others.
 */
export async function deleteDeliveries(
  transaction: QueryExecutorProvider,
  deliveries: readonly DeliveryKey[],
): Promise<number> {
  const { rows } = await sql<DeliveryKey & { subscription_id: string }>`DELETE FROM webhook_deliveries AS delivery
    USING unnest(${deliveries.map((key) => key.tenant_id)}::uuid[], ${deliveries.map((key) => key.delivery_id)}::uuid[])
      AS chosen (tenant_id, delivery_id)
    WHERE delivery.tenant_id = chosen.tenant_id AND delivery.delivery_id = chosen.delivery_id
    RETURNING delivery.tenant_id, delivery.subscription_id, delivery.delivery_id`.execute(transaction)
  if (rows.length === 0) return 0
  const deleted = sql`deleted AS MATERIALIZED (
      SELECT * FROM unnest(${rows.map((row) => row.tenant_id)}::uuid[], ${rows.map((row) => row.subscription_id)}::uuid[],
        ${rows.map((row) => row.delivery_id)}::uuid[]) AS deleted (tenant_id, subscription_id, delivery_id)
    )`
  // IS TRUE keeps PostgreSQL from rewriting IN as a join, which would read all deleted ids for each queue row.
  const isDeleted = sql`(each IN (SELECT delivery_id FROM deleted)) IS TRUE`
  await removeFromQueue(transaction, {
    deleted,
    isListed: sql`EXISTS (SELECT FROM unnest(queued.delivery_ids) AS each WHERE ${isDeleted})`,
    remaining: sql`ARRAY(SELECT each FROM unnest(queued.delivery_ids) AS each WHERE NOT ${isDeleted})`,
  })
  await sql`WITH ${deleted} DELETE FROM webhook_attempts AS attempt USING deleted
    WHERE attempt.tenant_id = deleted.tenant_id AND attempt.delivery_id = deleted.delivery_id`.execute(transaction)
  return rows.length
}

/** Deletes deliveries of a tenant, as `deleteDeliveries` does. */
export function deleteDeliveriesById(tx: Tenant, deliveryIds: readonly string[]): Promise<number> {
  const keys = deliveryIds.map((delivery_id) => ({ tenant_id: tx.id, delivery_id }))
  return deleteDeliveries(tx.unrestricted, keys)
}

/** Deletes all deliveries of a subscription, as `deleteDeliveries` does, without reading their ids. */
export async function deleteDeliveriesOf(
  { id: tenantId, unrestricted: transaction }: Tenant,
  subscriptionId: string,
): Promise<void> {
  const isTheirs = sql`tenant_id = ${tenantId} AND subscription_id = ${subscriptionId}`
  await sql`DELETE FROM webhook_deliveries WHERE ${isTheirs}`.execute(transaction)
  await removeFromQueue(transaction, {
    deleted: sql`deleted AS (SELECT ${tenantId}::uuid AS tenant_id, ${subscriptionId}::uuid AS subscription_id)`,
    isListed: sql`true`,
    remaining: sql`'{}'::uuid[]`,
  })
  await sql`DELETE FROM webhook_attempts WHERE ${isTheirs}`.execute(transaction)
}

/**
 * Removes deleted deliveries from the queue. This comes before their attempts are deleted: recording an attempt locks the
 * delivery's queue row, so the attempt either exists by now and is deleted too, or is never recorded.
 *
 * A worker may move deliveries to another queue row while this waits for the lock of the first one. Only a later
 * statement sees the new row, so the removal repeats until a query, which does not wait, finds none: each delivery is in
 * at most one committed row. All code locks queue rows in the order of their batch_id, except rows that were moved during
 * a wait; there PostgreSQL aborts one of two deadlocked transactions.
 */
async function removeFromQueue(
  transaction: QueryExecutorProvider,
  { deleted, isListed, remaining }: Listing,
): Promise<void> {
  const listing = sql`webhook_queue AS queued JOIN (SELECT DISTINCT tenant_id, subscription_id FROM deleted) AS theirs
    USING (tenant_id, subscription_id) WHERE ${isListed}`
  const isSameRow = sql`queued.tenant_id = rest.tenant_id AND queued.subscription_id = rest.subscription_id
    AND queued.due_at = rest.due_at AND queued.batch_id = rest.batch_id`
  for (;;) {
    const { rows } = await sql`WITH ${deleted} SELECT FROM ${listing} LIMIT 1`.execute(transaction)
    if (rows.length === 0) return
    await sql`WITH ${deleted}, locked AS (
        SELECT queued.* FROM ${listing} ORDER BY queued.batch_id FOR UPDATE OF queued
      ), rest AS (
        SELECT queued.*, ${remaining} AS remaining_ids FROM locked AS queued
      ), emptied AS (
        DELETE FROM webhook_queue AS queued USING rest WHERE remaining_ids = '{}' AND ${isSameRow}
      )
      UPDATE webhook_queue AS queued SET delivery_ids = remaining_ids FROM rest
      WHERE remaining_ids <> '{}' AND ${isSameRow}`.execute(transaction)
  }
}
