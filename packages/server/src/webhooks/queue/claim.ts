import { sql } from 'kysely'
import type { People } from '../../events/people.ts'
import type { EventRecord } from '../../journal/event-record.ts'
import { evenIfClosed, isOfOpenTenant } from '../../platform/closed-tenants.ts'
import { leaseMs } from '../../platform/postgres/lease.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import { buildPayloads } from '../payload.ts'
import type { WebhookFormat } from '../schema.ts'
import { DELIVERIES_PER_ROW } from './add.ts'

/** Where a subscription's deliveries are sent, and what signs them. */
export interface Target {
  /** Only the beginning if there is `urlSealed`. */
  url: string
  urlSealed: string | null
  format: WebhookFormat
  template: string | null
  headersSealed: string | null
  secretSealed: string
  previousSecretSealed: string | null
  previousUntil: Date | null
  switchAt: Date | null
}

/** The deliveries of one queue row that this process has claimed. */
export interface Batch {
  tenantId: string
  subscriptionId: string
  batchId: string
  /**
   * The end of the lease, and the proof of the claim: while the queue row is due at this time, no other process has
   * claimed it. The queue has no columns for a claim, because its primary key, which sorts by `due_at`, finds retries and
   * expired claims in one scan.
   */
  claimedUntil: Date
  /** The number of the deliveries' next attempt, from 1. */
  attempt: number
  target: Target
}

/** A delivery that this process has claimed. */
export interface Claimed {
  batch: Batch
  deliveryId: string
  eventId: string
  event: string
  payload: string
  /** The number of attempts before it was last sent again by hand. */
  attemptsBefore: number
}

/** What this process can claim now. */
export interface Capacity {
  slots: number
  /** Deliveries per subscription, for those that `free` does not list. */
  perSubscription: number
  free: ReadonlyMap<string, number>
  fullTenants: readonly string[]
}

interface Claims {
  deliveries: Claimed[]
  /** Whether deliveries were due; another process may have claimed all of them first. */
  wereDue: boolean
}

interface SubscriptionRow {
  tenant_id: string
  subscription_id: string
  url: string
  url_sealed: string | null
  format: WebhookFormat
  template: string | null
  headers_sealed: string | null
  secret_sealed: string
  previous_secret_sealed: string | null
  previous_until: Date | null
  switch_at: Date | null
}

interface ClaimedRow {
  subscription_id: string
  batch_id: string
  attempt: number
  delivery_id: string
  event_id: string
  event: string
  record: string | null
  payload: string | null
  attempts_before: number
}

/** Queue rows of a subscription whose average size estimates how many rows to lock. */
const ROWS_SAMPLED = 32

/**
 * Claims due deliveries. The free slots are divided among the subscriptions with due deliveries, so that no
 * queue delays another. Deliveries without a payload get theirs before they are sent, so that every attempt of every
 * process sends the same bytes.
 */
export async function claimDeliveries(
  { stores, people }: { stores: Stores; people: People },
  capacity: Capacity,
  now: Date,
): Promise<Claims> {
  const subscriptions = await dueSubscriptions(stores, capacity, now)
  if (subscriptions.length === 0) return { deliveries: [], wereDue: false }
  const claimedUntil = new Date(now.getTime() + leaseMs('webhook_batch'))
  const rows = await claimRows(stores, subscriptions, capacity, { now, claimedUntil })
  const owners = new Map(
    subscriptions.map((row) => [row.subscription_id, { tenantId: row.tenant_id, target: toTarget(row) }]),
  )
  const batches = new Map<string, Batch>()
  const batchOf = ({ subscription_id: subscriptionId, batch_id: batchId, attempt }: ClaimedRow): Batch | undefined => {
    const [known, owner] = [batches.get(batchId), owners.get(subscriptionId)]
    if (known || !owner) return known
    const batch = { ...owner, subscriptionId, batchId, claimedUntil, attempt }
    batches.set(batchId, batch)
    return batch
  }
  const claimed = rows.flatMap((row) => {
    const batch = batchOf(row)
    return batch ? [{ row, batch }] : []
  })
  const payloads = await storePayloads(stores, people, claimed)
  const deliveries = claimed.flatMap(({ row, batch }) => {
    const { delivery_id: deliveryId, event_id: eventId, event, attempts_before: attemptsBefore } = row
    const payload = row.payload ?? payloads.get(deliveryId)
    return payload === undefined ? [] : [{ batch, deliveryId, eventId, event, payload, attemptsBefore }]
  })
  return { deliveries, wereDue: true }
}

/**
 * The subscriptions with due deliveries, in random order. A loose index scan of the queue finds each with one lookup,
 * however many rows it has.
 */
async function dueSubscriptions(
  stores: Stores,
  { slots, free, fullTenants }: Capacity,
  now: Date,
): Promise<SubscriptionRow[]> {
  const full = [...free].filter(([, count]) => count <= 0).map(([subscriptionId]) => subscriptionId)
  const { rows } = await sql<SubscriptionRow>`WITH RECURSIVE known AS (
      (SELECT tenant_id, subscription_id FROM webhook_queue ORDER BY tenant_id, subscription_id LIMIT 1)
      UNION ALL
      SELECT next.tenant_id, next.subscription_id FROM known CROSS JOIN LATERAL (
        SELECT tenant_id, subscription_id FROM webhook_queue
        WHERE (tenant_id, subscription_id) > (known.tenant_id, known.subscription_id)
        ORDER BY tenant_id, subscription_id LIMIT 1) AS next
    )
    SELECT tenant_id, subscription_id, url, url_sealed, format, template, headers_sealed, secret_sealed, previous_secret_sealed,
      previous_until, switch_at
    FROM known JOIN webhook_subscriptions AS subscription USING (tenant_id, subscription_id)
    CROSS JOIN LATERAL (
      SELECT FROM webhook_queue AS queued WHERE queued.due_at <= ${now} AND queued.tenant_id = known.tenant_id
        AND queued.subscription_id = known.subscription_id LIMIT 1) AS due
    WHERE subscription.paused_at IS NULL AND subscription_id <> ALL (${full}::uuid[])
      AND tenant_id <> ALL (${fullTenants}::uuid[]) AND ${isOfOpenTenant(stores)}
    ORDER BY random() LIMIT ${slots}`.execute(stores.database)
  return rows
}

/**
 * Moves due deliveries of some subscriptions to rows that this process has claimed.
 *
 * Rows that another process has locked are skipped. How many deliveries a row lists is known only once it is locked, so
 * the average of the next rows decides how many are locked, and a row that lists too many is split. The deliveries get new
 * rows, so that those which were recorded one by one are finished together. Deliveries that no longer exist get none.
 *
 * Locked rows are found again by their ctid: PostgreSQL's statistics describe the empty queue of a minute ago, so a join
 * by key would read the whole queue for each row. A row that was changed just before it was locked has another ctid; it is
 * left for the next poll.
 */
async function claimRows(
  stores: Stores,
  subscriptions: readonly SubscriptionRow[],
  { slots, perSubscription, free }: Capacity,
  { now, claimedUntil }: { now: Date; claimedUntil: Date },
): Promise<ClaimedRow[]> {
  const share = Math.max(1, Math.floor(slots / subscriptions.length))
  const limits = subscriptions.map(({ subscription_id }) =>
    Math.min(share, free.get(subscription_id) ?? perSubscription),
  )
  const { rows } = await sql<ClaimedRow>`WITH locked AS (
      SELECT due.*, wanted.most FROM unnest(${subscriptions.map((row) => row.tenant_id)}::uuid[],
        ${subscriptions.map((row) => row.subscription_id)}::uuid[], ${limits}::integer[])
        AS wanted (tenant, subscription, most)
      CROSS JOIN LATERAL (
        SELECT queued.ctid AS place, queued.* FROM webhook_queue AS queued WHERE queued.due_at <= ${now}
          AND queued.tenant_id = wanted.tenant AND queued.subscription_id = wanted.subscription
        ORDER BY due_at, batch_id LIMIT (
          SELECT ceil(wanted.most / avg(cardinality(delivery_ids)))::integer + 1 FROM (
            SELECT delivery_ids FROM webhook_queue AS queued WHERE queued.due_at <= ${now}
              AND queued.tenant_id = wanted.tenant AND queued.subscription_id = wanted.subscription
            ORDER BY due_at, batch_id LIMIT ${sql.lit(ROWS_SAMPLED)}) AS next
        ) FOR UPDATE SKIP LOCKED
      ) AS due
    ), counted AS (
      SELECT *, (most - sum(cardinality(delivery_ids)) OVER (PARTITION BY tenant_id, subscription_id
        ORDER BY due_at, batch_id) + cardinality(delivery_ids))::integer AS part FROM locked
    ), parts AS (
      SELECT place, batch_id, delivery_ids[: part] AS claimed_ids, delivery_ids[part + 1 :] AS remaining_ids
      FROM counted WHERE part > 0
    ), emptied AS (
      DELETE FROM webhook_queue WHERE ctid = ANY (ARRAY(SELECT place FROM parts WHERE remaining_ids = '{}'))
      RETURNING tenant_id, subscription_id, attempt, delivery_ids
    ), split AS (
      UPDATE webhook_queue AS queued
      SET delivery_ids = (SELECT remaining_ids FROM parts WHERE parts.batch_id = queued.batch_id)
      WHERE queued.ctid = ANY (ARRAY(SELECT place FROM parts WHERE remaining_ids <> '{}'))
      RETURNING tenant_id, subscription_id, attempt,
        (SELECT claimed_ids FROM parts WHERE parts.batch_id = queued.batch_id) AS delivery_ids
    ), numbered AS (
      SELECT tenant_id, subscription_id, attempt, delivery_id, (row_number() OVER (PARTITION BY tenant_id, subscription_id,
        attempt) - 1) / ${sql.lit(DELIVERIES_PER_ROW)} AS batch
      FROM (SELECT * FROM emptied UNION ALL SELECT * FROM split) AS row CROSS JOIN LATERAL unnest(delivery_ids) AS each (delivery_id)
    ), claimed AS (
      SELECT numbered.*, event_id, event, record, payload, attempts_before
      FROM numbered JOIN webhook_deliveries USING (tenant_id, delivery_id)
    ), batches AS MATERIALIZED (
      SELECT tenant_id, subscription_id, attempt, batch, gen_random_uuid() AS batch_id,
        array_agg(delivery_id) AS delivery_ids FROM claimed GROUP BY tenant_id, subscription_id, attempt, batch
    ), moved AS (
      INSERT INTO webhook_queue (tenant_id, subscription_id, due_at, batch_id, attempt, delivery_ids, is_claimed)
      SELECT tenant_id, subscription_id, ${claimedUntil}, batch_id, attempt, delivery_ids, true FROM batches
    )
    SELECT subscription_id, batch_id, attempt, delivery_id, event_id, event, record, payload, attempts_before
    FROM claimed JOIN batches USING (tenant_id, subscription_id, attempt, batch)`.execute(stores.database)
  return rows
}

/**
 * Creates and stores the payloads of deliveries without one. If the lease has ended meanwhile, the first process to store
 * a payload wins, and both send it.
 * @returns the payloads by delivery.
 */
async function storePayloads(
  stores: Stores,
  people: People,
  claimed: readonly { row: ClaimedRow; batch: Batch }[],
): Promise<Map<string, string>> {
  const missing = claimed.filter(({ row }) => row.payload === null)
  if (missing.length === 0) return new Map()
  const payloads: Awaited<ReturnType<typeof buildPayloads>> = []
  const byTenant = [...Map.groupBy(missing, ({ batch }) => batch.tenantId)]
  for (const [tenantId, entries] of byTenant) {
    const built = await buildPayloads(
      // A tenant that was just closed must not delay the deliveries of others; its own are not sent.
      openTenant(evenIfClosed(stores), tenantId),
      people,
      entries.map(({ row, batch: { subscriptionId, target } }) => ({
        recipient: { subscriptionId, format: target.format, template: target.template },
        record: JSON.parse(row.record ?? '{}') as EventRecord,
      })),
    )
    payloads.push(...built)
  }
  const inOrder = byTenant.flatMap(([, entries]) => entries)
  const stored = await sql<{ delivery_id: string; payload: string }>`UPDATE webhook_deliveries AS delivery
    SET payload = coalesce(delivery.payload, built.payload), record = NULL, contact_id = built.contact_id
    FROM unnest(${inOrder.map(({ batch }) => batch.tenantId)}::uuid[], ${inOrder.map(({ row }) => row.delivery_id)}::uuid[],
      ${payloads.map(({ payload }) => payload)}::text[], ${payloads.map(({ contactId }) => contactId)}::uuid[])
      AS built (tenant_id, delivery_id, payload, contact_id)
    WHERE delivery.tenant_id = built.tenant_id AND delivery.delivery_id = built.delivery_id
    RETURNING delivery.delivery_id, delivery.payload`.execute(stores.database)
  return new Map(stored.rows.map(({ delivery_id, payload }) => [delivery_id, payload]))
}

function toTarget(row: SubscriptionRow): Target {
  return {
    url: row.url,
    urlSealed: row.url_sealed,
    format: row.format,
    template: row.template,
    headersSealed: row.headers_sealed,
    secretSealed: row.secret_sealed,
    previousSecretSealed: row.previous_secret_sealed,
    previousUntil: row.previous_until,
    switchAt: row.switch_at,
  }
}
