import { sql } from 'kysely'
import type { Database } from '../../platform/postgres/database.ts'
import { retryAt } from '../retries.ts'
import type { Batch, Claimed } from './claim.ts'

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
 * Writes down what some attempts came to, in one statement: a line of the log each, and a row of the queue for those that
 * are attempted again. Each leaves the row that it was taken with. A delivery whose lease ended and that another worker
 * took meanwhile is left to that worker: only who finds the row under its own lease writes.
 */
export async function recordAttempts(database: Database, attempted: readonly Attempted[]): Promise<void> {
  const { batches, numbers } = batchesOf(attempted.map(({ delivery }) => delivery))
  const column = <T>(value: (each: Attempted) => T) => attempted.map(value)
  await sql`WITH made AS (
      SELECT * FROM unnest(
        ${numbers}::integer[], ${column(({ delivery }) => delivery.deliveryId)}::uuid[],
        ${column(nextAttemptAt)}::timestamptz[], ${column(({ outcome }) => outcome.at.toISOString())}::timestamptz[],
        ${column(({ outcome }) => outcome.endedAt.getTime() - outcome.at.getTime())}::integer[],
        ${column(({ outcome }) => outcome.statusCode)}::integer[], ${column(({ outcome }) => outcome.body)}::text[],
        ${column(({ outcome }) => outcome.error)}::text[], ${column(({ outcome }) => outcome.address)}::text[]
      ) AS made (batch, delivery_id, next_at, at, latency_ms, status_code, body, error, address)
    ), ${heldBatches(batches)}, done AS (
      SELECT held.tenant_id, held.subscription_id, held.attempt, made.* FROM made JOIN held USING (batch)
      WHERE made.delivery_id = ANY (held.delivery_ids)
    ), logged AS (
      INSERT INTO webhook_attempts (tenant_id, subscription_id, delivery_id, attempt, at, latency_ms, status_code, body,
        error, address, is_last)
      SELECT tenant_id, subscription_id, delivery_id, attempt, at, latency_ms, status_code, body, error, address,
        next_at IS NULL FROM done
    ), waiting AS (
      INSERT INTO webhook_queue (tenant_id, subscription_id, due_at, batch_id, attempt, delivery_ids)
      SELECT tenant_id, subscription_id, next_at, gen_random_uuid(), attempt + 1, array_agg(delivery_id)
      FROM done WHERE next_at IS NOT NULL GROUP BY tenant_id, subscription_id, next_at, attempt
    ), ${restOfBatches}`.execute(database)
}

/** Gives deliveries back that were not attempted to the end, so that whoever works next takes them at once. */
export async function giveBack(database: Database, deliveries: readonly Claimed[], now: Date): Promise<void> {
  if (deliveries.length === 0) return
  const { batches, numbers } = batchesOf(deliveries)
  await sql`WITH made AS (
      SELECT * FROM unnest(${numbers}::integer[], ${deliveries.map(({ deliveryId }) => deliveryId)}::uuid[])
        AS made (batch, delivery_id)
    ), ${heldBatches(batches)}, waiting AS (
      INSERT INTO webhook_queue (tenant_id, subscription_id, due_at, batch_id, attempt, delivery_ids)
      SELECT tenant_id, subscription_id, ${now}, gen_random_uuid(), attempt, array_agg(delivery_id)
      FROM made JOIN held USING (batch) WHERE made.delivery_id = ANY (held.delivery_ids)
      GROUP BY tenant_id, subscription_id, batch, attempt
    ), ${restOfBatches}`.execute(database)
}

/** The rows of the queue that some deliveries were taken with, each once, and for each delivery which of them, from 1. */
function batchesOf(deliveries: readonly Claimed[]): { batches: Batch[]; numbers: number[] } {
  const found = new Map<Batch, number>()
  const numbers = deliveries.map(({ batch }) => {
    const number = found.get(batch) ?? found.size + 1
    found.set(batch, number)
    return number
  })
  return { batches: [...found.keys()], numbers }
}

/** Locks those that are still under the lease that they were taken with, in the order in which everybody does. */
function heldBatches(batches: readonly Batch[]) {
  return sql`held AS (
      SELECT mine.batch, queued.* FROM unnest(
        ${batches.map(({ tenantId }) => tenantId)}::uuid[], ${batches.map(({ subscriptionId }) => subscriptionId)}::uuid[],
        ${batches.map(({ leaseUntil }) => leaseUntil.toISOString())}::timestamptz[],
        ${batches.map(({ batchId }) => batchId)}::uuid[]
      ) WITH ORDINALITY AS mine (tenant_id, subscription_id, due_at, batch_id, batch)
      JOIN webhook_queue AS queued USING (tenant_id, subscription_id, due_at, batch_id)
      ORDER BY queued.batch_id FOR UPDATE OF queued
    )`
}

/** Takes out of the rows what was `made`; a row of which nothing is left goes. */
const restOfBatches = sql`rest AS (
      SELECT held.*, ARRAY(SELECT each FROM unnest(held.delivery_ids) AS each
        WHERE each <> ALL (out.delivery_ids)) AS left_ids
      FROM held JOIN (SELECT batch, array_agg(delivery_id) AS delivery_ids FROM made GROUP BY batch) AS out USING (batch)
    ), finished AS (
      DELETE FROM webhook_queue AS queued USING rest WHERE left_ids = '{}' AND queued.tenant_id = rest.tenant_id
        AND queued.subscription_id = rest.subscription_id AND queued.due_at = rest.due_at
        AND queued.batch_id = rest.batch_id
    )
    UPDATE webhook_queue AS queued SET delivery_ids = rest.left_ids FROM rest
    WHERE left_ids <> '{}' AND queued.tenant_id = rest.tenant_id AND queued.subscription_id = rest.subscription_id
      AND queued.due_at = rest.due_at AND queued.batch_id = rest.batch_id`

/** When it is attempted again; null when it is not. */
function nextAttemptAt({ delivery: { batch, attemptsBefore }, outcome }: Attempted): string | null {
  if (outcome.succeeded) return null
  return retryAt(outcome.endedAt, batch.attempt - attemptsBefore)?.toISOString() ?? null
}
