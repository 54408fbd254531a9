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

/** A delivery that this process has, until its lease ends. */
export interface Claimed {
  tenantId: string
  deliveryId: string
  subscriptionId: string
  eventId: string
  event: string
  payload: string
  /** Attempts made so far, and how many of them came before it was sent again by hand. */
  attemptCount: number
  attemptsBefore: number
  /** End of the lease; it also proves that nobody has taken the delivery over since. */
  leaseUntil: Date
  /** Shared by all deliveries that were claimed together for one subscription. */
  target: Target
}

/** What a process can take at the moment. */
export interface Room {
  slots: number
  /** How many deliveries of one subscription it sends at once, unless `free` says how many more it can take. */
  perSubscription: number
  free: ReadonlyMap<string, number>
  fullTenants: readonly string[]
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
  tenant_id: string
  delivery_id: string
  subscription_id: string
  event_id: string
  event: string
  record: string | null
  payload: string | null
  attempt_count: number
  attempts_before: number
}

/**
 * Takes due deliveries, for `leaseMs`. The free slots are dealt out among the subscriptions that have any, so that
 * nobody's queue comes before anybody else's. What has no payload yet gets it now, before anybody sends it: every
 * attempt, of whichever process, sends these bytes.
 */
export async function claimDeliveries(stores: Stores, room: Room, now: Date, leaseMs: number): Promise<Claimed[]> {
  const ready = await readySubscriptions(stores, room, now)
  if (ready.length === 0) return []
  const leaseUntil = new Date(now.getTime() + leaseMs)
  const rows = await takeFrom(stores, ready, room, { now, leaseUntil })
  const payloads = await payloadsOf(stores, rows)
  const targets = new Map(ready.map((row) => [row.subscription_id, toTarget(row)]))
  return rows.flatMap((row) => {
    const [target, payload] = [targets.get(row.subscription_id), row.payload ?? payloads.get(row.delivery_id)]
    return target && payload !== undefined ? [toClaimed(row, target, payload, leaseUntil)] : []
  })
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
    WHERE subscription.paused_at IS NULL AND subscription_id <> ALL (${full}::uuid[])
      AND tenant_id <> ALL (${fullTenants}::uuid[])
      AND EXISTS (SELECT FROM webhook_queue AS due WHERE due.due_at <= ${now}
        AND due.tenant_id = waiting.tenant_id AND due.subscription_id = waiting.subscription_id)
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
  const { rows } = await sql<TakenRow>`WITH taken AS (
      SELECT waiting.* FROM unnest(${ready.map((row) => row.tenant_id)}::uuid[],
        ${ready.map((row) => row.subscription_id)}::uuid[], ${most}::integer[]) AS ready (tenant_id, subscription_id, most)
      CROSS JOIN LATERAL (
        SELECT * FROM webhook_queue AS queued WHERE queued.due_at <= ${now}
          AND queued.tenant_id = ready.tenant_id AND queued.subscription_id = ready.subscription_id
        ORDER BY due_at, delivery_id LIMIT ready.most FOR UPDATE SKIP LOCKED
      ) AS waiting
    ), leased AS (
      UPDATE webhook_queue AS queued SET due_at = ${leaseUntil} FROM taken
      WHERE queued.tenant_id = taken.tenant_id AND queued.subscription_id = taken.subscription_id
        AND queued.due_at = taken.due_at AND queued.delivery_id = taken.delivery_id
      RETURNING queued.tenant_id, queued.delivery_id
    )
    SELECT tenant_id, delivery_id, subscription_id, event_id, event, record, payload, attempt_count, attempts_before
    FROM leased JOIN webhook_deliveries USING (tenant_id, delivery_id)`.execute(stores.database)
  return rows
}

/**
 * Makes and stores the payloads of those that have none. Should a lease have ended meanwhile, whoever stored first wins:
 * both send those bytes.
 */
async function payloadsOf(stores: Stores, rows: readonly TakenRow[]): Promise<Map<string, string>> {
  const unsent = rows.filter(({ payload }) => payload === null)
  if (unsent.length === 0) return new Map()
  const payloads: string[] = []
  const byTenant = [...Map.groupBy(unsent, ({ tenant_id }) => tenant_id)]
  for (const [tenantId, entries] of byTenant) {
    const built = await buildPayloads(
      openTenant(stores, tenantId),
      entries.map(({ subscription_id, record }) => ({
        subscriptionId: subscription_id,
        record: JSON.parse(record ?? '{}') as EventRecord,
      })),
    )
    payloads.push(...built)
  }
  const inOrder = byTenant.flatMap(([, entries]) => entries)
  const stored = await sql<{ delivery_id: string; payload: string }>`UPDATE webhook_deliveries AS delivery
    SET payload = coalesce(delivery.payload, made.payload), record = NULL
    FROM unnest(${inOrder.map((row) => row.tenant_id)}::uuid[], ${inOrder.map((row) => row.delivery_id)}::uuid[],
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

function toClaimed(row: TakenRow, target: Target, payload: string, leaseUntil: Date): Claimed {
  return {
    tenantId: row.tenant_id,
    deliveryId: row.delivery_id,
    subscriptionId: row.subscription_id,
    eventId: row.event_id,
    event: row.event,
    payload,
    attemptCount: row.attempt_count,
    attemptsBefore: row.attempts_before,
    leaseUntil,
    target,
  }
}
