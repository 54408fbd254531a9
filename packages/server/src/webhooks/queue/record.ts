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
 * whose lease ended and that another worker took meanwhile is left to that worker.
 */
export async function recordAttempts(database: Database, attempted: readonly Attempted[]): Promise<void> {
  const column = <T>(value: (each: Attempted) => T) => attempted.map(value)
  const next = attempted.map(nextState)
  await sql`WITH made AS (
      SELECT * FROM unnest(
        ${column(({ delivery }) => delivery.tenantId)}::uuid[], ${column(({ delivery }) => delivery.deliveryId)}::uuid[],
        ${column(({ delivery }) => delivery.leaseUntil)}::timestamptz[],
        ${next.map(({ status }) => status)}::text[], ${next.map(({ dueAt }) => dueAt)}::timestamptz[],
        ${next.map(({ finishedAt }) => finishedAt)}::timestamptz[],
        ${column(({ outcome }) => outcome.at)}::timestamptz[],
        ${column(({ outcome }) => outcome.endedAt.getTime() - outcome.at.getTime())}::integer[],
        ${column(({ outcome }) => outcome.statusCode)}::integer[], ${column(({ outcome }) => outcome.body)}::text[],
        ${column(({ outcome }) => outcome.error)}::text[], ${column(({ outcome }) => outcome.address)}::text[]
      ) AS made (tenant_id, delivery_id, lease_until, status, due_at, finished_at, at, latency_ms, status_code, body,
        error, address)
    ), changed AS (
      UPDATE webhook_deliveries AS delivery
      SET status = made.status, due_at = made.due_at, finished_at = made.finished_at,
        attempt_count = delivery.attempt_count + 1
      FROM made
      WHERE delivery.tenant_id = made.tenant_id AND delivery.delivery_id = made.delivery_id
        AND delivery.due_at = made.lease_until
      RETURNING delivery.tenant_id, delivery.delivery_id, delivery.attempt_count
    )
    INSERT INTO webhook_attempts
      (tenant_id, delivery_id, attempt, at, latency_ms, status_code, body, error, address)
    SELECT tenant_id, delivery_id, changed.attempt_count, at, latency_ms, status_code, body, error, address
    FROM changed JOIN made USING (tenant_id, delivery_id)`.execute(database)
}

/** Gives deliveries back that were not attempted to the end, so that whoever works next takes them at once. */
export async function giveBack(database: Database, deliveries: readonly Claimed[], now: Date): Promise<void> {
  if (deliveries.length === 0) return
  await sql`UPDATE webhook_deliveries AS delivery SET due_at = ${now}
    FROM unnest(${deliveries.map(({ tenantId }) => tenantId)}::uuid[],
      ${deliveries.map(({ deliveryId }) => deliveryId)}::uuid[],
      ${deliveries.map(({ leaseUntil }) => leaseUntil)}::timestamptz[]) AS held (tenant_id, delivery_id, lease_until)
    WHERE delivery.tenant_id = held.tenant_id AND delivery.delivery_id = held.delivery_id
      AND delivery.due_at = held.lease_until`.execute(database)
}

function nextState({ delivery, outcome }: Attempted) {
  if (outcome.succeeded) return { status: 'succeeded', dueAt: null, finishedAt: outcome.endedAt }
  const delay = DELAYS_MS[delivery.attemptCount - delivery.attemptsBefore]
  if (delay === undefined) return { status: 'failed', dueAt: null, finishedAt: outcome.endedAt }
  return { status: 'pending', dueAt: new Date(outcome.endedAt.getTime() + delay), finishedAt: null }
}
