import { sql } from 'kysely'
import type { EventRecord } from '../../journal/event-record.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import { buildPayloads } from '../payload.ts'

/** Where a subscription's deliveries go, and what signs them. */
export interface Target {
  url: string
  headersSealed: string | null
  secretSealed: string
  previousSecretSealed: string | null
  previousUntil: Date | null
  switchAt: Date | null
}

/** Deliveries of one row of the queue, which this process has until its lease ends. */
export interface Batch {
  tenantId: string
  subscriptionId: string
  batchId: string
  /** End of the lease; it also proves that nobody has taken the row over since. */
  leaseUntil: Date
  /** Which attempt of these deliveries the next one is, counted from 1. */
  attempt: number
  target: Target
}

/** A delivery that this process has. */
export interface Claimed {
  batch: Batch
  deliveryId: string
  eventId: string
  event: string
  payload: string
  /** How many attempts came before it was sent again by hand. */
  attemptsBefore: number
}

/** What a process can take at the moment. */
export interface Room {
  slots: number
  /** How many deliveries of one subscription it sends at once, unless `free` says how many more it can take. */
  perSubscription: number
  free: ReadonlyMap<string, number>
  fullTenants: readonly string[]
}

interface Claims {
  deliveries: Claimed[]
  /** Whether there were any when it was looked; another process may have taken them just then. */
  wereDue: boolean
}

interface ReadyRow {
  tenant_id: string
  subscription_id: string
  url: string
  headers_sealed: string | null
  secret_sealed: string
  previous_secret_sealed: string | null
  previous_until: Date | null
  switch_at: Date | null
}

interface TakenRow {
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

/** Of a subscription, to estimate how many deliveries a row stands for. */
const ROWS_LOOKED_AT = 32
/** Deliveries of a row that is leased, at the most: each time some of them are written down, the rest is written again. */
const BATCH = 64

/**
 * Takes due deliveries, for `leaseMs`. The free slots are dealt out among the subscriptions that have any, so that
 * nobody's queue comes before anybody else's. What has no payload yet gets it now, before anybody sends it: every
 * attempt, of whichever process, sends these bytes.
 */
export async function claimDeliveries(stores: Stores, room: Room, now: Date, leaseMs: number): Promise<Claims> {
  const ready = await readySubscriptions(stores, room, now)
  if (ready.length === 0) return { deliveries: [], wereDue: false }
  const leaseUntil = new Date(now.getTime() + leaseMs)
  const rows = await takeFrom(stores, ready, room, { now, leaseUntil })
  const owners = new Map(ready.map((row) => [row.subscription_id, { tenantId: row.tenant_id, target: toTarget(row) }]))
  const batches = new Map<string, Batch>()
  const batchOf = ({ subscription_id: subscriptionId, batch_id: batchId, attempt }: TakenRow): Batch | undefined => {
    const [known, owner] = [batches.get(batchId), owners.get(subscriptionId)]
    if (known || !owner) return known
    const batch = { ...owner, subscriptionId, batchId, leaseUntil, attempt }
    batches.set(batchId, batch)
    return batch
  }
  const taken = rows.flatMap((row) => {
    const batch = batchOf(row)
    return batch ? [{ row, batch }] : []
  })
  const payloads = await payloadsOf(stores, taken)
  const deliveries = taken.flatMap(({ row, batch }) => {
    const { delivery_id: deliveryId, event_id: eventId, event, attempts_before: attemptsBefore } = row
    const payload = row.payload ?? payloads.get(deliveryId)
    return payload === undefined ? [] : [{ batch, deliveryId, eventId, event, payload, attemptsBefore }]
  })
  return { deliveries, wereDue: true }
}

/** They are found by leaping through the index of the queue, one look-up each, however long a queue is. */
async function readySubscriptions(stores: Stores, { slots, free, fullTenants }: Room, now: Date): Promise<ReadyRow[]> {
  const full = [...free].filter(([, count]) => count <= 0).map(([subscriptionId]) => subscriptionId)
  const { rows } = await sql<ReadyRow>`WITH RECURSIVE waiting AS (
      (SELECT tenant_id, subscription_id FROM webhook_queue ORDER BY tenant_id, subscription_id LIMIT 1)
      UNION ALL
      SELECT next.tenant_id, next.subscription_id FROM waiting CROSS JOIN LATERAL (
        SELECT tenant_id, subscription_id FROM webhook_queue
        WHERE (tenant_id, subscription_id) > (waiting.tenant_id, waiting.subscription_id)
        ORDER BY tenant_id, subscription_id LIMIT 1) AS next
    )
    SELECT tenant_id, subscription_id, url, headers_sealed, secret_sealed, previous_secret_sealed, previous_until,
      switch_at
    FROM waiting JOIN webhook_subscriptions AS subscription USING (tenant_id, subscription_id)
    CROSS JOIN LATERAL (
      SELECT FROM webhook_queue AS queued WHERE queued.due_at <= ${now} AND queued.tenant_id = waiting.tenant_id
        AND queued.subscription_id = waiting.subscription_id LIMIT 1) AS due
    WHERE subscription.paused_at IS NULL AND subscription_id <> ALL (${full}::uuid[])
      AND tenant_id <> ALL (${fullTenants}::uuid[])
    ORDER BY random() LIMIT ${slots}`.execute(stores.database)
  return rows
}

async function takeFrom(
  stores: Stores,
  ready: readonly ReadyRow[],
  { slots, perSubscription, free }: Room,
  { now, leaseUntil }: { now: Date; leaseUntil: Date },
): Promise<TakenRow[]> {
  const share = Math.max(1, Math.floor(slots / ready.length))
  const most = ready.map(({ subscription_id }) => Math.min(share, free.get(subscription_id) ?? perSubscription))
  // What another process holds is passed over. Rows can be counted only once they are locked, and how many deliveries
  // each stands for differs: the next ones tell. What is taken gets rows of its own, so that deliveries which were
  // recorded one by one are written down together; what does not exist any more gets none. Locked rows are found again by
  // where they are, because PostgreSQL takes a queue that was empty a minute ago for an empty one and would read all of it
  // for each; one that somebody changed just before it was locked is not found, and left for the next look.
  const { rows } = await sql<TakenRow>`WITH waiting AS (
      SELECT due.*, ready.most FROM unnest(${ready.map((row) => row.tenant_id)}::uuid[],
        ${ready.map((row) => row.subscription_id)}::uuid[], ${most}::integer[]) AS ready (tenant, subscription, most)
      CROSS JOIN LATERAL (
        SELECT queued.ctid AS place, queued.* FROM webhook_queue AS queued WHERE queued.due_at <= ${now}
          AND queued.tenant_id = ready.tenant AND queued.subscription_id = ready.subscription
        ORDER BY due_at, batch_id LIMIT (
          SELECT ceil(ready.most / avg(cardinality(delivery_ids)))::integer + 1 FROM (
            SELECT delivery_ids FROM webhook_queue AS queued WHERE queued.due_at <= ${now}
              AND queued.tenant_id = ready.tenant AND queued.subscription_id = ready.subscription
            ORDER BY due_at, batch_id LIMIT ${sql.lit(ROWS_LOOKED_AT)}) AS next
        ) FOR UPDATE SKIP LOCKED
      ) AS due
    ), counted AS (
      SELECT *, (most - sum(cardinality(delivery_ids)) OVER (PARTITION BY tenant_id, subscription_id
        ORDER BY due_at, batch_id) + cardinality(delivery_ids))::integer AS part FROM waiting
    ), parts AS (
      SELECT place, batch_id, delivery_ids[: part] AS taken_ids, delivery_ids[part + 1 :] AS left_ids
      FROM counted WHERE part > 0
    ), taken AS (
      DELETE FROM webhook_queue WHERE ctid = ANY (ARRAY(SELECT place FROM parts WHERE left_ids = '{}'))
      RETURNING tenant_id, subscription_id, attempt, delivery_ids
    ), divided AS (
      UPDATE webhook_queue AS queued
      SET delivery_ids = (SELECT left_ids FROM parts WHERE parts.batch_id = queued.batch_id)
      WHERE queued.ctid = ANY (ARRAY(SELECT place FROM parts WHERE left_ids <> '{}'))
      RETURNING tenant_id, subscription_id, attempt,
        (SELECT taken_ids FROM parts WHERE parts.batch_id = queued.batch_id) AS delivery_ids
    ), numbered AS (
      SELECT tenant_id, subscription_id, attempt, delivery_id, (row_number() OVER (PARTITION BY tenant_id, subscription_id,
        attempt) - 1) / ${sql.lit(BATCH)} AS batch
      FROM (SELECT * FROM taken UNION ALL SELECT * FROM divided) AS row CROSS JOIN LATERAL unnest(delivery_ids) AS each (delivery_id)
    ), mine AS (
      SELECT numbered.*, event_id, event, record, payload, attempts_before
      FROM numbered JOIN webhook_deliveries USING (tenant_id, delivery_id)
    ), batches AS MATERIALIZED (
      SELECT tenant_id, subscription_id, attempt, batch, gen_random_uuid() AS batch_id,
        array_agg(delivery_id) AS delivery_ids FROM mine GROUP BY tenant_id, subscription_id, attempt, batch
    ), leased AS (
      INSERT INTO webhook_queue (tenant_id, subscription_id, due_at, batch_id, attempt, delivery_ids, is_leased)
      SELECT tenant_id, subscription_id, ${leaseUntil}, batch_id, attempt, delivery_ids, true FROM batches
    )
    SELECT subscription_id, batch_id, attempt, delivery_id, event_id, event, record, payload, attempts_before
    FROM mine JOIN batches USING (tenant_id, subscription_id, attempt, batch)`.execute(stores.database)
  return rows
}

/**
 * Makes and stores the payloads of those that have none. Should a lease have ended meanwhile, whoever stored first wins:
 * both send those bytes.
 */
async function payloadsOf(
  stores: Stores,
  taken: readonly { row: TakenRow; batch: Batch }[],
): Promise<Map<string, string>> {
  const unsent = taken.filter(({ row }) => row.payload === null)
  if (unsent.length === 0) return new Map()
  const payloads: string[] = []
  const byTenant = [...Map.groupBy(unsent, ({ batch }) => batch.tenantId)]
  for (const [tenantId, entries] of byTenant) {
    const built = await buildPayloads(
      openTenant(stores, tenantId),
      entries.map(({ row, batch: { subscriptionId } }) => ({
        subscriptionId,
        record: JSON.parse(row.record ?? '{}') as EventRecord,
      })),
    )
    payloads.push(...built)
  }
  const inOrder = byTenant.flatMap(([, entries]) => entries)
  const stored = await sql<{ delivery_id: string; payload: string }>`UPDATE webhook_deliveries AS delivery
    SET payload = coalesce(delivery.payload, made.payload), record = NULL
    FROM unnest(${inOrder.map(({ batch }) => batch.tenantId)}::uuid[], ${inOrder.map(({ row }) => row.delivery_id)}::uuid[],
      ${payloads}::text[]) AS made (tenant_id, delivery_id, payload)
    WHERE delivery.tenant_id = made.tenant_id AND delivery.delivery_id = made.delivery_id
    RETURNING delivery.delivery_id, delivery.payload`.execute(stores.database)
  return new Map(stored.rows.map(({ delivery_id, payload }) => [delivery_id, payload]))
}

function toTarget(row: ReadyRow): Target {
  return {
    url: row.url,
    headersSealed: row.headers_sealed,
    secretSealed: row.secret_sealed,
    previousSecretSealed: row.previous_secret_sealed,
    previousUntil: row.previous_until,
    switchAt: row.switch_at,
  }
}
