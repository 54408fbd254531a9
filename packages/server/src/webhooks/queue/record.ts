import { sql } from 'kysely'
import type { Database } from '../../platform/postgres/database.ts'
import type { Claimed } from './claim.ts'

/** Delays before the second to the sixth attempt, each counted from the end of the one before. */
const DELAYS_MS = [60_000, 300_000, 1_800_000, 7_200_000, 43_200_000]

/** What one attempt came to. */
export interface Outcome {
  at: Date
  /** When it was over. */
  endedAt: Date
  statusCode: number | null
  body: string | null
  error: string | null
  address: string | null
  succeeded: boolean
}

export interface Attempted {
  delivery: Claimed
  outcome: Outcome
}

/**
 * Writes down what some attempts came to, in one statement: each delivery's new state and a line of its log. A delivery
 * whose lease ended and that another worker took meanwhile is left to that worker: only who finds it in the queue under
 * its own lease writes.
 */
export async function recordAttempts(database: Database, attempted: readonly Attempted[]): Promise<void> {
  const column = <T>(value: (each: Attempted) => T) => attempted.map(value)
  const next = attempted.map(nextState)
  await sql`WITH made AS (
      SELECT * FROM unnest(
        ${column(({ delivery }) => delivery.tenantId)}::uuid[], ${column(({ delivery }) => delivery.subscriptionId)}::uuid[],
        ${column(({ delivery }) => delivery.leaseUntil.toISOString())}::timestamptz[],
        ${column(({ delivery }) => delivery.deliveryId)}::uuid[],
        ${next.map(({ status }) => status)}::text[], ${next.map(({ dueAt }) => dueAt)}::timestamptz[],
        ${column(({ outcome }) => outcome.at.toISOString())}::timestamptz[],
        ${column(({ outcome }) => outcome.endedAt.getTime() - outcome.at.getTime())}::integer[],
        ${column(({ outcome }) => outcome.statusCode)}::integer[], ${column(({ outcome }) => outcome.body)}::text[],
        ${column(({ outcome }) => outcome.error)}::text[], ${column(({ outcome }) => outcome.address)}::text[]
      ) AS made (tenant_id, subscription_id, lease_until, delivery_id, status, due_at, at, latency_ms, status_code,
        body, error, address)
    ), finished AS (
      DELETE FROM webhook_queue AS queued USING made WHERE made.due_at IS NULL AND ${isHeld}
      RETURNING queued.tenant_id, queued.delivery_id
    ), waiting AS (
      UPDATE webhook_queue AS queued SET due_at = made.due_at FROM made WHERE made.due_at IS NOT NULL AND ${isHeld}
      RETURNING queued.tenant_id, queued.delivery_id
    ), changed AS (
      UPDATE webhook_deliveries AS delivery
      SET status = made.status, due_at = made.due_at, attempt_count = delivery.attempt_count + 1,
        finished_at = CASE WHEN made.due_at IS NULL THEN made.at + made.latency_ms * interval '1 millisecond' END
      FROM made JOIN (SELECT * FROM finished UNION ALL SELECT * FROM waiting) AS held USING (tenant_id, delivery_id)
      WHERE delivery.tenant_id = made.tenant_id AND delivery.delivery_id = made.delivery_id
      RETURNING delivery.tenant_id, delivery.delivery_id, delivery.attempt_count
    )
    INSERT INTO webhook_attempts
      (tenant_id, delivery_id, attempt, at, latency_ms, status_code, body, error, address)
    SELECT tenant_id, delivery_id, changed.attempt_count, at, latency_ms, status_code, body, error, address
    FROM changed JOIN made USING (tenant_id, delivery_id)`.execute(database)
}

const isHeld = sql`queued.tenant_id = made.tenant_id AND queued.subscription_id = made.subscription_id
  AND queued.due_at = made.lease_until AND queued.delivery_id = made.delivery_id`

/** Gives deliveries back that were not attempted to the end, so that whoever works next takes them at once. */
export async function giveBack(database: Database, deliveries: readonly Claimed[], now: Date): Promise<void> {
  if (deliveries.length === 0) return
  await sql`UPDATE webhook_queue AS queued SET due_at = ${now}
    FROM unnest(${deliveries.map(({ tenantId }) => tenantId)}::uuid[],
      ${deliveries.map(({ subscriptionId }) => subscriptionId)}::uuid[],
      ${deliveries.map(({ leaseUntil }) => leaseUntil)}::timestamptz[],
      ${deliveries.map(({ deliveryId }) => deliveryId)}::uuid[])
      AS made (tenant_id, subscription_id, lease_until, delivery_id)
    WHERE ${isHeld}`.execute(database)
}

function nextState({ delivery, outcome }: Attempted) {
  if (outcome.succeeded) return { status: 'succeeded', dueAt: null }
  const delay = DELAYS_MS[delivery.attemptCount - delivery.attemptsBefore]
  if (delay === undefined) return { status: 'failed', dueAt: null }
  return { status: 'pending', dueAt: new Date(outcome.endedAt.getTime() + delay) }
}
