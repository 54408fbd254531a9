import Type from 'typebox'
import { readTenant } from '../access/tenants.ts'
import type { Context } from '../operations/declare.ts'
import { notFound, ServiceError } from '../platform/errors.ts'
import { Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT, WORD } from '../platform/personal.ts'
import { nextMailAt } from './monday.ts'

/** The mail of a dashboard that the caller gets on Mondays. */
export const Subscription = Type.Object(
  {
    next_mail_at: Timestamp,
    last_mailed_at: Nullable(Timestamp),
    last_error: Nullable(
      Type.Object({ code: Type.String(WORD), message: Type.String(TEXT) }, { title: 'SubscriptionError' }),
      'Why the last mail could not be sent.',
    ),
    created_at: Timestamp,
  },
  { title: 'DashboardSubscription' },
)
export type Subscription = Type.Static<typeof Subscription>

type Caller = Pick<Context, 'tenant' | 'actor'>

/** The caller's subscription; null without one, and for a caller that is no person. */
export async function findSubscription({ tenant, actor }: Caller, dashboardId: string): Promise<Subscription | null> {
  if (actor.kind !== 'user') return null
  const row = await tenant.db
    .selectFrom('dashboard_subscriptions')
    .select(['next_mail_at', 'last_mailed_at', 'last_error', 'created_at'])
    .where('dashboard_id', '=', dashboardId)
    .where('user_id', '=', actor.id)
    .executeTakeFirst()
  if (!row) return null
  return {
    next_mail_at: row.next_mail_at.toISOString(),
    last_mailed_at: row.last_mailed_at?.toISOString() ?? null,
    last_error: row.last_error as Subscription['last_error'],
    created_at: row.created_at.toISOString(),
  }
}

/**
 * Mails the dashboard to the caller on Mondays. The caller holds the lock of `lockTiles`, so that the dashboard exists.
 * @throws ServiceError 403 `person_required`
 */
export async function subscribe(
  context: Pick<Context, 'tenant' | 'actor' | 'now'>,
  dashboardId: string,
): Promise<Subscription> {
  const { tenant: tx, now } = context
  const userId = requirePerson(context)
  const { timeZone } = await readTenant(tx)
  await tx.db
    .insertInto('dashboard_subscriptions')
    .values({ dashboard_id: dashboardId, user_id: userId, next_mail_at: nextMailAt(timeZone, now), created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const subscription = await findSubscription(context, dashboardId)
  if (subscription === null) throw notFound('subscription')
  return subscription
}

/** @throws ServiceError 403 `person_required`; 404 */
export async function unsubscribe(caller: Caller, dashboardId: string): Promise<void> {
  const { numDeletedRows } = await caller.tenant.db
    .deleteFrom('dashboard_subscriptions')
    .where('dashboard_id', '=', dashboardId)
    .where('user_id', '=', requirePerson(caller))
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('subscription')
}

function requirePerson({ actor }: Pick<Context, 'actor'>): string {
  if (actor.kind === 'user') return actor.id
  const message = 'Only a person gets this mail, for themselves. Sign in to the dashboard and turn it on there.'
  throw new ServiceError(403, 'person_required', message)
}
