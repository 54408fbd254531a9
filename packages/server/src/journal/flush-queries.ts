import type pg from 'pg'
import type { NewDelivery } from '../webhooks/match.ts'
import { type Batch, type EventRecord, NO_CONTACT } from './event-record.ts'

const DAY_MS = 86_400_000
const DIVISION_BY_ZERO = '22012'

/** A visitor of a flush, and the contact that its events carry. */
export interface FlushVisitor {
  tenantId: string
  visitorId: string
  contactId: string | null
}

/** What a flush writes. */
export interface Flush {
  journalId: string
  rows: string
  eventCount: number
  visitors: FlushVisitor[]
  batches: readonly Batch[]
  deliveries: readonly NewDelivery[]
  now: Date
}

/** One of three tables that take turns by the day: see the migration. */
export interface EventIdTable {
  turn: number
  /** Days since 1970. */
  day: number
  table: string
}

export function eventIdTables(now: Date): { today: EventIdTable; tomorrow: EventIdTable; yesterday: EventIdTable } {
  const today = Math.floor(now.getTime() / DAY_MS)
  const ofDay = (day: number) => ({ turn: day % 3, day, table: `event_ids_${day % 3}` })
  return { today: ofDay(today), tomorrow: ofDay(today + 1), yesterday: ofDay(today - 1) }
}

/**
 * Inserts ids that are in none of the tables. Checking yesterday's alone would do if all clocks agreed; for a process
 * whose clock is behind, the ids that others write today are in tomorrow's table.
 */
function rememberIds(now: Date): string {
  const { today, tomorrow, yesterday } = eventIdTables(now)
  const isNew = [yesterday, tomorrow].map(
    ({ table }) => `NOT EXISTS (
      SELECT FROM ${table} AS known WHERE known.tenant_id = sent.tenant_id AND known.event_id = sent.event_id
    )`,
  )
  // Sorted, so that two processes that are sent the same ids wait for each other instead of blocking each other.
  return `INSERT INTO ${today.table} (tenant_id, event_id)
    SELECT sent.tenant_id, sent.event_id FROM unnest($1::uuid[], $2::uuid[]) AS sent (tenant_id, event_id)
    WHERE ${isNew.join(' AND ')}
    ORDER BY 1, 2
    ON CONFLICT DO NOTHING RETURNING tenant_id, event_id`
}

const ADD_VISITORS = `INSERT INTO visitors (tenant_id, visitor_id, created_at)
  SELECT sent.tenant_id, sent.visitor_id, $5::timestamptz FROM unnest($3::uuid[], $4::text[]) AS sent (tenant_id, visitor_id)
  ORDER BY 1, 2 ON CONFLICT DO NOTHING`

/** Paused or deleted since this process last looked: then there is nothing to deliver. */
const ADD_DELIVERIES = `INSERT INTO webhook_deliveries
  (tenant_id, delivery_id, subscription_id, event_id, event, record, payload, due_at, created_at)
  SELECT sent.*, $5::timestamptz, $5::timestamptz
  FROM unnest($10::uuid[], $11::uuid[], $12::uuid[], $13::uuid[], $14::text[], $15::text[], $16::text[])
    AS sent (tenant_id, delivery_id, subscription_id, event_id, event, record, payload)
  WHERE EXISTS (SELECT FROM webhook_subscriptions AS subscription WHERE subscription.tenant_id = sent.tenant_id
    AND subscription.subscription_id = sent.subscription_id AND subscription.paused_at IS NULL)`

/**
 * Writes a whole flush in one statement, which is one round trip and one commit. It holds when what the flush was made
 * of holds: every id that a caller chose is new, and every visitor belongs to the contact that its events carry.
 * @returns false when something does not; then nothing is written.
 */
export async function writeAtOnce(client: pg.PoolClient, flush: Flush): Promise<boolean> {
  const { tenantIds, eventIds } = callerIdsOf(flush.batches)
  const { visitors, deliveries } = flush
  const delivers = deliveries.length > 0
  try {
    await client.query({
      name: `journal.flush.${eventIdTables(flush.now).today.table}${delivers ? '.deliver' : ''}`,
      text: `WITH remembered AS (${rememberIds(flush.now)}), added AS (${ADD_VISITORS}),
        ${delivers ? `delivered AS (${ADD_DELIVERIES}),` : ''}
        checked AS (
          SELECT (SELECT count(*) FROM remembered) = cardinality($1::uuid[]) AND NOT EXISTS (
            SELECT FROM unnest($3::uuid[], $4::text[], $6::uuid[]) AS sent (tenant_id, visitor_id, contact_id)
            JOIN visitors ON visitors.tenant_id = sent.tenant_id AND visitors.visitor_id = sent.visitor_id
            WHERE visitors.contact_id IS DISTINCT FROM sent.contact_id
          ) AS holds
        )
        INSERT INTO journal (journal_id, tenant_ids, event_count, rows)
        SELECT $7, ARRAY(SELECT DISTINCT unnest($3::uuid[])), $8, $9 FROM checked WHERE 1 / holds::integer = 1`,
      values: [
        tenantIds,
        eventIds,
        visitors.map(({ tenantId }) => tenantId),
        visitors.map(({ visitorId }) => visitorId),
        flush.now,
        visitors.map(({ contactId }) => contactId),
        flush.journalId,
        flush.eventCount,
        flush.rows,
        ...(delivers ? columnsOf(deliveries) : []),
      ],
    })
    return true
  } catch (error) {
    // The division is how a statement undoes itself: an error rolls back what it inserted.
    if ((error as { code?: string }).code === DIVISION_BY_ZERO) return false
    throw error
  }
}

function columnsOf(deliveries: readonly NewDelivery[]): (string | null)[][] {
  const keys = ['tenantId', 'deliveryId', 'subscriptionId', 'eventId', 'event', 'record', 'payload'] as const
  return keys.map((key) => deliveries.map((delivery) => delivery[key]))
}

/**
 * Remembers the ids that callers chose and leaves out the events that were recorded before. Call it in a transaction.
 * @returns the events to record.
 */
export async function leaveOutRepeated(
  client: pg.PoolClient,
  batches: readonly Batch[],
  now: Date,
): Promise<EventRecord[]> {
  const { tenantIds, eventIds } = callerIdsOf(batches)
  if (eventIds.length === 0) return batches.flatMap((batch) => batch.events)
  const text = rememberIds(now)
  const { rows } = await client.query<{ tenant_id: string; event_id: string }>({ text, values: [tenantIds, eventIds] })
  const fresh = new Set(rows.map((row) => `${row.tenant_id}/${row.event_id}`))
  return batches.flatMap((batch) => {
    const chosen = new Set(batch.callerIds)
    // Deleting marks it as taken: the same id twice in one flush is recorded once.
    return batch.events.filter(
      (event) => !chosen.has(event.event_id) || fresh.delete(`${event.tenant_id}/${event.event_id}`),
    )
  })
}

/** The visitors of some batches as PostgreSQL knows them; those it does not know are anonymous. */
export async function readVisitors(client: pg.PoolClient, batches: readonly Batch[]): Promise<FlushVisitor[]> {
  const visitors = distinctVisitors(batches)
  const { rows } = await client.query<{ tenant_id: string; visitor_id: string; contact_id: string | null }>({
    text: `SELECT tenant_id, visitor_id, contact_id FROM visitors
      WHERE (tenant_id, visitor_id) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))`,
    values: [visitors.map(({ tenantId }) => tenantId), visitors.map(({ visitorId }) => visitorId)],
  })
  const contacts = new Map(rows.map((row) => [visitorKey(row.tenant_id, row.visitor_id), row.contact_id]))
  return visitors.map((visitor) => ({
    ...visitor,
    contactId: contacts.get(visitorKey(visitor.tenantId, visitor.visitorId)) ?? null,
  }))
}

/** Each visitor of some batches once, not yet known to belong to anybody. */
export function distinctVisitors(batches: readonly Batch[]): FlushVisitor[] {
  const visitors = new Map<string, FlushVisitor>()
  for (const { tenantId, visitorId } of batches) {
    visitors.set(visitorKey(tenantId, visitorId), { tenantId, visitorId, contactId: null })
  }
  return [...visitors.values()]
}

/** Puts on each event the contact of its visitor. */
export function assignContacts(batches: readonly Batch[], visitors: readonly FlushVisitor[]): void {
  const contacts = new Map(
    visitors.map((visitor) => [visitorKey(visitor.tenantId, visitor.visitorId), visitor.contactId]),
  )
  for (const batch of batches) {
    const contactId = contacts.get(visitorKey(batch.tenantId, batch.visitorId)) ?? NO_CONTACT
    for (const event of batch.events) event.contact_id = contactId
  }
}

/** Text that stands for a visitor in a Map. */
export function visitorKey(tenantId: string, visitorId: string): string {
  return `${tenantId}/${visitorId}`
}

function callerIdsOf(batches: readonly Batch[]): { tenantIds: string[]; eventIds: string[] } {
  const eventIds = batches.flatMap((batch) => batch.callerIds)
  const tenantIds = batches.flatMap((batch) => batch.callerIds.map(() => batch.tenantId))
  return { tenantIds, eventIds }
}
