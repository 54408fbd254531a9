import { type ExpressionBuilder, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { ATTEMPTS_MAX } from './queue/finish.ts'
import type { WebhookHealth } from './schema.ts'

const WINDOW_MS = DAY_MS
/** Deliveries that show a receiver's current state. */
const LATEST = 10
/** A receiver is failing after this many failures in a row. */
const FAILURES_IN_A_ROW = 3

/** The health of some subscriptions of a tenant, newest first. */
export async function subscriptionHealth(
  tenant: Tenant,
  subscriptionIds: readonly string[],
  now: Date,
): Promise<WebhookHealth[]> {
  if (subscriptionIds.length === 0) return []
  const since = new Date(now.getTime() - WINDOW_MS)
  const rows = await tenant.db
    .selectFrom('webhook_subscriptions')
    .select((from) => [
      'subscription_id',
      from
        .selectFrom('webhook_queue')
        .select(sql<number>`coalesce(sum(cardinality(delivery_ids)), 0)`.as('pending'))
        .whereRef('webhook_queue.subscription_id', '=', 'webhook_subscriptions.subscription_id')
        .as('pending'),
      finished(from, 'succeeded')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('at', '>=', since)
        .as('succeeded'),
      finished(from, 'failed')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('at', '>=', since)
        .as('failed'),
      finished(from, 'succeeded').select(endedAt).orderBy('at', 'desc').limit(1).as('last_success_at'),
      finished(from, 'failed').select(endedAt).orderBy('at', 'desc').limit(1).as('last_failure_at'),
      jsonArrayFrom(
        from
          .selectFrom('webhook_attempts')
          .select(['delivery_id', sql<boolean>`error IS NOT NULL`.as('is_failed')])
          .whereRef('webhook_attempts.subscription_id', '=', 'webhook_subscriptions.subscription_id')
          .orderBy('at', 'desc')
          .limit(LATEST * ATTEMPTS_MAX),
      ).as('attempts'),
    ])
    .where('subscription_id', 'in', subscriptionIds)
    .orderBy('created_at', 'desc')
    .orderBy('subscription_id', 'desc')
    .execute()
  return rows.map(({ attempts, ...row }) => ({
    ...row,
    pending: Number(row.pending),
    succeeded: Number(row.succeeded),
    failed: Number(row.failed),
    ...recentHealth(attempts),
    last_success_at: row.last_success_at?.toISOString() ?? null,
    last_failure_at: row.last_failure_at?.toISOString() ?? null,
  }))
}

const endedAt = sql<Date>`at + latency_ms * interval '1 millisecond'`.as('ended_at')

type Subscriptions = ExpressionBuilder<TenantTables, 'webhook_subscriptions'>

/** The last attempts of a subscription's deliveries that succeeded, or that failed for good. */
function finished(from: Subscriptions, status: 'succeeded' | 'failed') {
  return from
    .selectFrom('webhook_attempts')
    .whereRef('webhook_attempts.subscription_id', '=', 'webhook_subscriptions.subscription_id')
    .where('is_last', '=', true)
    .where('error', status === 'failed' ? 'is not' : 'is', null)
}

/**
 * The state of a receiver according to its latest attempts, newest first. Deliveries that are still being retried count as
 * failed: the last retry is hours later.
 */
function recentHealth(attempts: readonly { delivery_id: string; is_failed: boolean }[]) {
  const newest = Map.groupBy(attempts, (attempt) => attempt.delivery_id)
  const failed = [...newest.values()].slice(0, LATEST).map(([last]) => last?.is_failed === true)
  return {
    latest: failed.length,
    latest_failed: failed.filter(Boolean).length,
    is_failing: failed.length > 0 && failed.slice(0, FAILURES_IN_A_ROW).every(Boolean),
  }
}
