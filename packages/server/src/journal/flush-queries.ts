import type pg from 'pg'
import type { NewDelivery } from '../webhooks/match.ts'
import { type Batch, NO_CONTACT } from './event-record.ts'
import { eventIdTables, idParameters, rememberIds } from './sent-ids.ts'

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

const ADD_VISITORS = `INSERT INTO visitors (tenant_id, visitor_id, created_at)
  SELECT sent.tenant_id, sent.visitor_id, $6::timestamptz FROM unnest($4::uuid[], $5::text[]) AS sent (tenant_id, visitor_id)
  ORDER BY 1, 2 ON CONFLICT DO NOTHING`

/** Paused or deleted since this process last looked: then there is nothing to deliver. */
const ADD_DELIVERIES = `INSERT INTO webhook_deliveries
  (tenant_id, delivery_id, subscription_id, event_id, event, record, payload, due_at, created_at)
  SELECT sent.*, $6::timestamptz, $6::timestamptz
  FROM unnest($11::uuid[], $12::uuid[], $13::uuid[], $14::uuid[], $15::text[], $16::text[], $17::text[])
    AS sent (tenant_id, delivery_id, subscription_id, event_id, event, record, payload)
  WHERE EXISTS (SELECT FROM webhook_subscriptions AS subscription WHERE subscription.tenant_id = sent.tenant_id
    AND subscription.subscription_id = sent.subscription_id AND subscription.paused_at IS NULL)`

/**
 * Writes a whole flush in one statement, which is one round trip and one commit. It holds when what the flush was made
 * of holds: every id that a sender gave is new, and every visitor belongs to the contact that its events carry.
 * @returns false when something does not; then nothing is written.
 */
export async function writeAtOnce(client: pg.PoolClient, flush: Flush): Promise<boolean> {
  const { visitors, deliveries } = flush
  const delivers = deliveries.length > 0
  try {
    await client.query({
      name: `journal.flush.${eventIdTables(flush.now).today.table}${delivers ? '.deliver' : ''}`,
      text: `WITH remembered AS (${rememberIds(flush.now)}), added AS (${ADD_VISITORS}),
        ${delivers ? `delivered AS (${ADD_DELIVERIES}),` : ''}
        checked AS (
          SELECT (SELECT count(*) FROM remembered) = cardinality($1::uuid[]) AND NOT EXISTS (
            SELECT FROM unnest($4::uuid[], $5::text[], $7::uuid[]) AS sent (tenant_id, visitor_id, contact_id)
            JOIN visitors ON visitors.tenant_id = sent.tenant_id AND visitors.visitor_id = sent.visitor_id
            WHERE visitors.contact_id IS DISTINCT FROM sent.contact_id
          ) AS holds
        )
        INSERT INTO journal (journal_id, tenant_ids, event_count, rows)
        SELECT $8, ARRAY(SELECT DISTINCT unnest($4::uuid[])), $9, $10 FROM checked WHERE 1 / holds::integer = 1`,
      values: [
        ...idParameters(flush.batches),
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
