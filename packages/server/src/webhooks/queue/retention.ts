import { sql } from 'kysely'
import { every, type Repeated } from '../../platform/every.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type Clock, DAY_MS } from '../../platform/time.ts'
import { type DeliveryKey, deleteDeliveries } from './delete.ts'

const EVERY_MS = 600_000
/** Deliveries that one transaction deletes. */
const BATCH = 5_000

/** Deletes deliveries that finished long ago, and those of deleted subscriptions. @returns how many. */
export async function deleteOldDeliveries(database: Database, now: Date, days: number): Promise<number> {
  const before = new Date(now.getTime() - days * DAY_MS)
  const old = sql<DeliveryKey>`SELECT tenant_id, delivery_id FROM webhook_subscriptions AS subscription CROSS JOIN LATERAL (
      SELECT delivery_id FROM webhook_attempts AS attempt WHERE attempt.tenant_id = subscription.tenant_id
        AND attempt.subscription_id = subscription.subscription_id AND at < ${before} AND is_last LIMIT ${BATCH}
    ) AS finished LIMIT ${BATCH}`
  // An event may be recorded for a subscription while that, or its tenant, is deleted. A loose index scan finds each
  // subscription that has deliveries with one lookup.
  const orphaned = sql<DeliveryKey>`SELECT tenant_id, delivery_id FROM (
      WITH RECURSIVE known AS (
        (SELECT tenant_id, subscription_id FROM webhook_deliveries ORDER BY tenant_id, subscription_id LIMIT 1)
        UNION ALL
        SELECT next.tenant_id, next.subscription_id FROM known CROSS JOIN LATERAL (
          SELECT tenant_id, subscription_id FROM webhook_deliveries
          WHERE (tenant_id, subscription_id) > (known.tenant_id, known.subscription_id)
          ORDER BY tenant_id, subscription_id LIMIT 1) AS next
      )
      SELECT * FROM known WHERE NOT EXISTS (SELECT FROM webhook_subscriptions AS subscription
        WHERE subscription.tenant_id = known.tenant_id AND subscription.subscription_id = known.subscription_id)
    ) AS orphan JOIN webhook_deliveries USING (tenant_id, subscription_id) LIMIT ${BATCH}`
  let total = 0
  for (const query of [old, orphaned]) {
    for (;;) {
      const { rows } = await query.execute(database)
      const deleted = await database.transaction().execute((transaction) => deleteDeliveries(transaction, rows))
      total += deleted
      // Fewer are deleted than found if another process deletes them at the same time.
      if (rows.length < BATCH || deleted === 0) break
    }
  }
  return total
}

/** Applies the retention every ten minutes. */
export function startDeliveryRetention(database: Database, days: number, clock: Clock, log: Logger): Repeated {
  return every(EVERY_MS, async () => {
    try {
      await deleteOldDeliveries(database, clock(), days)
    } catch (error) {
      log.warn({ err: error }, 'old webhook deliveries could not be deleted; retrying in the next round')
    }
  })
}
