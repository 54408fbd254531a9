import { sql } from 'kysely'
import type { Database } from '../../platform/postgres/database.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/time.ts'
import type { Batch, Claimed } from './claim.ts'

/** The delays before the second to sixth attempt, from the end of the previous one. */
const DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 12 * HOUR_MS]
/** Attempts of a delivery, including the first. */
export const ATTEMPTS_MAX = DELAYS_MS.length + 1

/** The outcome of one attempt. */
export interface Outcome {
  at: Date
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
 * Records attempts in one statement: a line of the log each, and a queue row for those that are retried. Each delivery is
 * removed from its claimed row. If the lease has ended and another process has claimed the delivery, that process finishes
 * it: only the process that finds the row with its own claim records anything.
 */
export async function finishAttempts(database: Database, attempted: readonly Attempted[]): Promise<void> {
  const { batches, numbers } = batchesOf(attempted.map(({ delivery }) => delivery))
  const column = <T>(value: (each: Attempted) => T) => attempted.map(value)
  await sql`WITH leaving AS (
      SELECT * FROM unnest(
        ${numbers}::integer[], ${column(({ delivery }) => delivery.deliveryId)}::uuid[],
        ${column(nextAttemptAt)}::timestamptz[], ${column(({ outcome }) => outcome.at.toISOString())}::timestamptz[],
        ${column(({ outcome }) => outcome.endedAt.getTime() - outcome.at.getTime())}::integer[],
        ${column(({ outcome }) => outcome.statusCode)}::integer[], ${column(({ outcome }) => outcome.body)}::text[],
        ${column(({ outcome }) => outcome.error)}::text[], ${column(({ outcome }) => outcome.address)}::text[]
      ) AS leaving (batch, delivery_id, next_at, at, latency_ms, status_code, body, error, address)
    ), ${claimedBatches(batches)}, finished AS (
      SELECT claimed.tenant_id, claimed.subscription_id, claimed.attempt, leaving.* FROM leaving JOIN claimed USING (batch)
      WHERE leaving.delivery_id = ANY (claimed.delivery_ids)
    ), logged AS (
      INSERT INTO webhook_attempts (tenant_id, subscription_id, delivery_id, attempt, at, latency_ms, status_code, body,
        error, address, is_last)
      SELECT tenant_id, subscription_id, delivery_id, attempt, at, latency_ms, status_code, body, error, address,
        next_at IS NULL FROM finished
    ), retried AS (
      INSERT INTO webhook_queue (tenant_id, subscription_id, due_at, batch_id, attempt, delivery_ids)
      SELECT tenant_id, subscription_id, next_at, gen_random_uuid(), attempt + 1, array_agg(delivery_id)
      FROM finished WHERE next_at IS NOT NULL GROUP BY tenant_id, subscription_id, next_at, attempt
    ), ${remainingBatches}`.execute(database)
}

/** Releases deliveries without an outcome, so that any process can claim them at once. */
export async function releaseDeliveries(database: Database, deliveries: readonly Claimed[], now: Date): Promise<void> {
  if (deliveries.length === 0) return
  const { batches, numbers } = batchesOf(deliveries)
  await sql`WITH leaving AS (
      SELECT * FROM unnest(${numbers}::integer[], ${deliveries.map(({ deliveryId }) => deliveryId)}::uuid[])
        AS leaving (batch, delivery_id)
    ), ${claimedBatches(batches)}, released AS (
      INSERT INTO webhook_queue (tenant_id, subscription_id, due_at, batch_id, attempt, delivery_ids)
      SELECT tenant_id, subscription_id, ${now}, gen_random_uuid(), attempt, array_agg(delivery_id)
      FROM leaving JOIN claimed USING (batch) WHERE leaving.delivery_id = ANY (claimed.delivery_ids)
      GROUP BY tenant_id, subscription_id, batch, attempt
    ), ${remainingBatches}`.execute(database)
}

/** The distinct batches of some deliveries, and for each delivery the number of its batch, from 1. */
function batchesOf(deliveries: readonly Claimed[]): { batches: Batch[]; numbers: number[] } {
  const found = new Map<Batch, number>()
  const numbers = deliveries.map(({ batch }) => {
    const number = found.get(batch) ?? found.size + 1
    found.set(batch, number)
    return number
  })
  return { batches: [...found.keys()], numbers }
}

/** Locks the queue rows of those batches that this process still has, in the order in which all code locks them. */
function claimedBatches(batches: readonly Batch[]) {
  return sql`claimed AS (
      SELECT own.batch, queued.* FROM unnest(
        ${batches.map(({ tenantId }) => tenantId)}::uuid[], ${batches.map(({ subscriptionId }) => subscriptionId)}::uuid[],
        ${batches.map(({ claimedUntil }) => claimedUntil.toISOString())}::timestamptz[],
        ${batches.map(({ batchId }) => batchId)}::uuid[]
      ) WITH ORDINALITY AS own (tenant_id, subscription_id, due_at, batch_id, batch)
      JOIN webhook_queue AS queued USING (tenant_id, subscription_id, due_at, batch_id)
      ORDER BY queued.batch_id FOR UPDATE OF queued
    )`
}

/** Removes the deliveries in `leaving` from the claimed rows, and the rows that list no others. */
const remainingBatches = sql`remaining AS (
      SELECT claimed.*, ARRAY(SELECT each FROM unnest(claimed.delivery_ids) AS each
        WHERE each <> ALL (removed.delivery_ids)) AS remaining_ids
      FROM claimed
      JOIN (SELECT batch, array_agg(delivery_id) AS delivery_ids FROM leaving GROUP BY batch) AS removed USING (batch)
    ), emptied AS (
      DELETE FROM webhook_queue AS queued USING remaining WHERE remaining_ids = '{}'
        AND queued.tenant_id = remaining.tenant_id AND queued.subscription_id = remaining.subscription_id
        AND queued.due_at = remaining.due_at AND queued.batch_id = remaining.batch_id
    )
    UPDATE webhook_queue AS queued SET delivery_ids = remaining.remaining_ids FROM remaining
    WHERE remaining_ids <> '{}' AND queued.tenant_id = remaining.tenant_id
      AND queued.subscription_id = remaining.subscription_id AND queued.due_at = remaining.due_at
      AND queued.batch_id = remaining.batch_id`

/** When the delivery is retried; null if this was its last attempt. */
function nextAttemptAt({ delivery: { batch, attemptsBefore }, outcome }: Attempted): string | null {
  if (outcome.succeeded) return null
  return retryAt(outcome.endedAt, batch.attempt - attemptsBefore)?.toISOString() ?? null
}

/** When a delivery is retried after a number of failures; null after the sixth. */
export function retryAt(failedAt: Date, failures: number): Date | null {
  const delay = DELAYS_MS[failures - 1]
  return delay === undefined ? null : new Date(failedAt.getTime() + delay)
}
