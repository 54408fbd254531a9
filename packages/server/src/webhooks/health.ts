import { jsonArrayFrom } from 'kysely/helpers/postgres'
import type { Tenant } from '../platform/tenant.ts'

const WINDOW_MS = 86_400_000
/** Deliveries that tell how a receiver does now. */
const LATEST = 10
/** So many failures in a row are no accident any more. */
const IN_A_ROW = 3

/** How a subscription has been doing. */
export interface SubscriptionHealth {
  subscription_id: string
  /** Waiting to be sent, for the first time or again. */
  pending: number
  /** Finished in the last 24 hours. */
  succeeded: number
  failed: number
  /** Of the latest deliveries that were attempted: how many there are, and whose last attempt failed. */
  latest: number
  latest_failed: number
  /** Whether the very latest of them failed one after the other, though they will be attempted again. */
  is_failing: boolean
  last_success_at: string | null
  last_failure_at: string | null
}

/** The health of every subscription of a tenant that has deliveries, or of one. */
export async function subscriptionHealth(
  tenant: Tenant,
  now: Date,
  subscriptionId?: string,
): Promise<SubscriptionHealth[]> {
  const since = new Date(now.getTime() - WINDOW_MS)
  const all = tenant.db.selectFrom('webhook_deliveries')
  const asked = subscriptionId === undefined ? all : all.where('subscription_id', '=', subscriptionId)
  const latest = await latestOutcomes(tenant, subscriptionId)
  const rows = await asked
    .select(({ fn, eb }) => {
      const recently = (status: string) => eb.and([eb('status', '=', status), eb('finished_at', '>=', since)])
      return [
        'subscription_id',
        fn.countAll<number>().filterWhere('status', '=', 'pending').as('pending'),
        fn.countAll<number>().filterWhere(recently('succeeded')).as('succeeded'),
        fn.countAll<number>().filterWhere(recently('failed')).as('failed'),
        fn.max('finished_at').filterWhere('status', '=', 'succeeded').as('last_success_at'),
        fn.max('finished_at').filterWhere('status', '=', 'failed').as('last_failure_at'),
      ]
    })
    .groupBy('subscription_id')
    .execute()
  return rows.map((row) => ({
    ...row,
    ...recentHealth(latest.get(row.subscription_id) ?? []),
    last_success_at: row.last_success_at?.toISOString() ?? null,
    last_failure_at: row.last_failure_at?.toISOString() ?? null,
  }))
}

/** What the outcomes of the latest deliveries, the newest first, say of a receiver. */
function recentHealth(failed: readonly boolean[]) {
  return {
    latest: failed.length,
    latest_failed: failed.filter(Boolean).length,
    is_failing: failed.length > 0 && failed.slice(0, IN_A_ROW).every(Boolean),
  }
}

/**
 * Whether the last attempt failed, of the latest deliveries of each subscription that have been attempted, the newest
 * first. One that fails waits for its next attempt for hours, and is finished only after the sixth.
 */
async function latestOutcomes(tenant: Tenant, subscriptionId: string | undefined): Promise<Map<string, boolean[]>> {
  const rows = await tenant.db
    .selectFrom('webhook_subscriptions')
    .select((from) => [
      'subscription_id',
      jsonArrayFrom(
        from
          .selectFrom('webhook_deliveries')
          .select('status')
          .whereRef('webhook_deliveries.subscription_id', '=', 'webhook_subscriptions.subscription_id')
          .where('attempt_count', '>', 0)
          // One that waits because somebody sends it again has no outcome yet.
          .where((eb) => eb.or([eb('status', '!=', 'pending'), eb('attempt_count', '>', eb.ref('attempts_before'))]))
          .orderBy('webhook_deliveries.created_at', 'desc')
          .orderBy('delivery_id', 'desc')
          .limit(LATEST),
      ).as('outcomes'),
    ])
    .$if(subscriptionId !== undefined, (query) => query.where('subscription_id', '=', subscriptionId ?? ''))
    .execute()
  return new Map(
    rows.map(({ subscription_id: id, outcomes }) => [id, outcomes.map(({ status }) => status !== 'succeeded')]),
  )
}
