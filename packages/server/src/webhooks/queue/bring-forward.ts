import { sql } from 'kysely'
import type { Tenant } from '../../platform/tenant.ts'
import { NOTIFY_WORKERS } from './add.ts'

/**
 * Moves those deliveries that wait for a retry into queue rows that are due now. Their next attempts keep their
 * numbers. A row that a worker claims or changes meanwhile is read again once it is locked.
 * @returns how many.
 */
export async function bringForward(
  tx: Tenant,
  subscriptionId: string,
  deliveryIds: readonly string[],
  now: Date,
): Promise<number> {
  const isSameRow = sql`queued.tenant_id = parts.tenant_id AND queued.subscription_id = parts.subscription_id
    AND queued.due_at = parts.due_at AND queued.batch_id = parts.batch_id`
  // Each row's deliveries are looked up in a hash table: comparing two long lists would take their product.
  const { rows } = await sql<{ count: number }>`WITH wanted AS MATERIALIZED (
      SELECT unnest(${deliveryIds}::uuid[]) AS delivery_id
    ), locked AS (
      SELECT queued.* FROM webhook_queue AS queued WHERE queued.tenant_id = ${tx.id} AND queued.subscription_id = ${subscriptionId}
        AND queued.due_at > ${now} AND NOT queued.is_claimed
        AND EXISTS (SELECT FROM unnest(queued.delivery_ids) AS each WHERE (each IN (SELECT delivery_id FROM wanted)) IS TRUE)
      ORDER BY queued.batch_id FOR UPDATE
    ), parts AS MATERIALIZED (
      SELECT locked.*,
        ARRAY(SELECT each FROM unnest(delivery_ids) AS each WHERE (each IN (SELECT delivery_id FROM wanted)) IS TRUE) AS moved_ids,
        ARRAY(SELECT each FROM unnest(delivery_ids) AS each WHERE (each IN (SELECT delivery_id FROM wanted)) IS NOT TRUE) AS remaining_ids
      FROM locked
    ), emptied AS (
      DELETE FROM webhook_queue AS queued USING parts WHERE remaining_ids = '{}' AND ${isSameRow}
    ), divided AS (
      UPDATE webhook_queue AS queued SET delivery_ids = remaining_ids FROM parts WHERE remaining_ids <> '{}' AND ${isSameRow}
    ), moved AS (
      INSERT INTO webhook_queue (tenant_id, subscription_id, due_at, batch_id, attempt, delivery_ids)
      SELECT tenant_id, subscription_id, ${now}, gen_random_uuid(), attempt, moved_ids FROM parts WHERE moved_ids <> '{}'
      RETURNING delivery_ids, ${sql.raw(NOTIFY_WORKERS)} AS notified
    ), dated AS (
      UPDATE webhook_deliveries SET due_at = ${now} WHERE tenant_id = ${tx.id}
        AND delivery_id IN (SELECT unnest(delivery_ids) FROM moved)
    )
    SELECT coalesce(sum(cardinality(delivery_ids)), 0)::integer AS count FROM moved`.execute(tx.unrestricted)
  return rows[0]?.count ?? 0
}
