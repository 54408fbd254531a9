import type { Tenant } from '../platform/tenant.ts'

const WINDOW_MS = 86_400_000

/** How a subscription has been doing. */
export interface SubscriptionHealth {
  subscription_id: string
  /** Waiting to be sent, for the first time or again. */
  pending: number
  /** Finished in the last 24 hours. */
  succeeded: number
  failed: number
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
    last_success_at: row.last_success_at?.toISOString() ?? null,
    last_failure_at: row.last_failure_at?.toISOString() ?? null,
  }))
}
