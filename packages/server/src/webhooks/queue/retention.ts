import { sql } from 'kysely'
import { every, type Repeated } from '../../platform/every.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Clock } from '../../platform/time.ts'

const EVERY_MS = 600_000
const ROWS_AT_ONCE = 5_000
const DAY_MS = 86_400_000

/** Deletes deliveries that were finished long ago, and those of subscriptions that are gone. @returns how many. */
export async function forgetOldDeliveries(database: Database, now: Date, days: number): Promise<number> {
  const before = new Date(now.getTime() - days * DAY_MS)
  const old = sql`SELECT tenant_id, delivery_id FROM webhook_subscriptions AS subscription CROSS JOIN LATERAL (
      SELECT delivery_id FROM webhook_attempts AS attempt WHERE attempt.tenant_id = subscription.tenant_id
        AND attempt.subscription_id = subscription.subscription_id AND at < ${before} AND is_last LIMIT ${ROWS_AT_ONCE}
    ) AS finished LIMIT ${ROWS_AT_ONCE}`
  // Deliveries of subscriptions that were deleted while an event was being recorded for them. A loose index scan finds
  // each subscription that has deliveries with one lookup.
  const orphaned = sql`SELECT tenant_id, delivery_id FROM (
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
    ) AS gone JOIN webhook_deliveries USING (tenant_id, subscription_id) LIMIT ${ROWS_AT_ONCE}`
  let total = 0
  for (const which of [old, orphaned]) {
    for (;;) {
      const { rows } = await sql<{ found: number; deleted: number }>`WITH found AS MATERIALIZED (${which}), deleted AS (
          DELETE FROM webhook_deliveries WHERE (tenant_id, delivery_id) IN (SELECT tenant_id, delivery_id FROM found)
          RETURNING delivery_id
        )
        SELECT (SELECT count(*) FROM found) AS found, (SELECT count(*) FROM deleted) AS deleted`.execute(database)
      const { found = 0, deleted = 0 } = rows[0] ?? {}
      total += deleted
      // Fewer are deleted than found when somebody else deletes them just now.
      if (found < ROWS_AT_ONCE || deleted === 0) break
    }
  }
  return total
}

/** Forgets every ten minutes. */
export function keepDeliveries(database: Database, days: number, clock: Clock, log: Logger): Repeated {
  return every(EVERY_MS, async () => {
    try {
      await forgetOldDeliveries(database, clock(), days)
    } catch (error) {
      log.warn({ err: error }, 'old webhook deliveries could not be deleted; the next round tries again')
    }
  })
}
