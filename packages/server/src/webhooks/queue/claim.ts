import { sql } from 'kysely'
import type { EventRecord } from '../../journal/event-record.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import { buildPayloads } from '../payload.ts'

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
  url: string
  headersSealed: string | null
  secretSealed: string
  previousSecretSealed: string | null
  previousUntil: Date | null
  switchAt: Date | null
}

/** What a process can take at the moment. */
export interface Room {
  slots: number
  /** How many deliveries of one subscription it sends at once, unless `free` says how many more it can take. */
  perSubscription: number
  free: ReadonlyMap<string, number>
  fullTenants: readonly string[]
}

interface Row {
  tenant_id: string
  delivery_id: string
  subscription_id: string
  event_id: string
  event: string
  record: string | null
  payload: string | null
  attempt_count: number
  attempts_before: number
  url: string
  headers_sealed: string | null
  secret_sealed: string
  previous_secret_sealed: string | null
  previous_until: Date | null
  switch_at: Date | null
}

/**
 * Takes due deliveries, for `leaseMs`. The subscriptions that have any are found by leaping through the index of what is
 * pending, one look-up each, however long a queue is; the free slots are dealt out among them, so that nobody's queue
 * comes before anybody else's. What has never been sent gets its payload now, in the same transaction: every attempt,
 * of whichever process, sends these bytes.
 */
export async function claimDeliveries(stores: Stores, room: Room, now: Date, leaseMs: number): Promise<Claimed[]> {
  const leaseUntil = new Date(now.getTime() + leaseMs)
  return stores.database.transaction().execute(async (transaction) => {
    const { rows } = await sql<Row>`${candidates(room, now)}`.execute(transaction)
    if (rows.length === 0) return []
    const payloads = await payloadsOf({ ...stores, database: transaction }, rows)
    await sql`UPDATE webhook_deliveries AS delivery
      SET due_at = ${leaseUntil}, payload = coalesce(delivery.payload, claimed.payload), record = NULL
      FROM unnest(${rows.map((row) => row.tenant_id)}::uuid[], ${rows.map((row) => row.delivery_id)}::uuid[],
        ${payloads}::text[]) AS claimed (tenant_id, delivery_id, payload)
      WHERE delivery.tenant_id = claimed.tenant_id AND delivery.delivery_id = claimed.delivery_id`.execute(transaction)
    return rows.map((row, index) => toClaimed(row, payloads[index] ?? '', leaseUntil))
  })
}

function candidates({ slots, perSubscription, free, fullTenants }: Room, now: Date) {
  return sql`WITH RECURSIVE waiting AS (
      (SELECT tenant_id, subscription_id FROM webhook_deliveries WHERE status = 'pending'
        ORDER BY tenant_id, subscription_id LIMIT 1)
      UNION ALL
      SELECT next.tenant_id, next.subscription_id FROM waiting CROSS JOIN LATERAL (
        SELECT tenant_id, subscription_id FROM webhook_deliveries
        WHERE status = 'pending' AND (tenant_id, subscription_id) > (waiting.tenant_id, waiting.subscription_id)
        ORDER BY tenant_id, subscription_id LIMIT 1) AS next
    ), ready AS (
      SELECT subscription.*, coalesce(busy.free, ${perSubscription}) AS free
      FROM waiting JOIN webhook_subscriptions AS subscription USING (tenant_id, subscription_id)
      LEFT JOIN unnest(${[...free.keys()]}::uuid[], ${[...free.values()]}::integer[]) AS busy (subscription_id, free)
        USING (subscription_id)
      WHERE subscription.paused_at IS NULL AND coalesce(busy.free, 1) > 0
        AND tenant_id <> ALL (${fullTenants}::uuid[])
        AND EXISTS (SELECT FROM webhook_deliveries AS due WHERE due.status = 'pending' AND due.due_at <= ${now}
          AND due.tenant_id = waiting.tenant_id AND due.subscription_id = waiting.subscription_id)
      ORDER BY random() LIMIT ${slots}
    )
    SELECT taken.*, url, headers_sealed, secret_sealed, previous_secret_sealed, previous_until, switch_at
    FROM (SELECT ready.*, count(*) OVER () AS sharers FROM ready) AS ready CROSS JOIN LATERAL (
      SELECT tenant_id, delivery_id, subscription_id, event_id, event, record, payload, attempt_count, attempts_before
      FROM webhook_deliveries
      WHERE status = 'pending' AND due_at <= ${now}
        AND tenant_id = ready.tenant_id AND subscription_id = ready.subscription_id
      ORDER BY due_at, delivery_id LIMIT least(ready.free, greatest(1, ${slots}::integer / ready.sharers))
      FOR UPDATE SKIP LOCKED
    ) AS taken`
}

/** The stored payload of each row, or the one that it gets now. */
async function payloadsOf(stores: Stores, rows: readonly Row[]): Promise<string[]> {
  const payloads = rows.map((row) => row.payload ?? '')
  const unsent = [...rows.entries()].filter(([, row]) => row.payload === null && row.record !== null)
  for (const [tenantId, entries] of Map.groupBy(unsent, ([, row]) => row.tenant_id)) {
    const built = await buildPayloads(
      openTenant(stores, tenantId),
      entries.map(([, row]) => ({
        subscriptionId: row.subscription_id,
        record: JSON.parse(row.record ?? '{}') as EventRecord,
      })),
    )
    for (const [position, [index]] of entries.entries()) payloads[index] = built[position] ?? ''
  }
  return payloads
}

function toClaimed(row: Row, payload: string, leaseUntil: Date): Claimed {
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
    url: row.url,
    headersSealed: row.headers_sealed,
    secretSealed: row.secret_sealed,
    previousSecretSealed: row.previous_secret_sealed,
    previousUntil: row.previous_until,
    switchAt: row.switch_at,
  }
}
