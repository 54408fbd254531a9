import type pg from 'pg'
import type { EventRecord } from './event-record.ts'
import { NO_CONTACT } from './event-record.ts'
import type { Batch } from './group-commit.ts'

const DAY_MS = 86_400_000

/**
 * Remembers the ids that callers chose and leaves out the events whose id was recorded today or yesterday.
 * @returns the events to record.
 */
export async function forgetRepeated(client: pg.PoolClient, batches: Batch[], now: Date): Promise<EventRecord[]> {
  const tenantIds: string[] = []
  const eventIds: string[] = []
  for (const batch of batches) {
    for (const eventId of batch.callerIds) {
      tenantIds.push(batch.tenantId)
      eventIds.push(eventId)
    }
  }
  const events = batches.flatMap((batch) => batch.events)
  if (eventIds.length === 0) return events
  // Nearly always every id is new. Then the count says so, and no list of ids has to travel back.
  await client.query('SAVEPOINT ids')
  const { rowCount } = await client.query(rememberIds(now, tenantIds, eventIds, false))
  if (rowCount === eventIds.length) return events
  await client.query('ROLLBACK TO SAVEPOINT ids')
  const { rows } = await client.query<{ tenant_id: string; event_id: string }>(
    rememberIds(now, tenantIds, eventIds, true),
  )
  return withoutRepeated(batches, new Set(rows.map((row) => `${row.tenant_id}/${row.event_id}`)))
}

function withoutRepeated(batches: Batch[], fresh: Set<string>): EventRecord[] {
  return batches.flatMap((batch) => {
    const chosen = new Set(batch.callerIds)
    return batch.events.filter((event) => {
      // Deleting marks it as taken: the same id twice in one flush is recorded once.
      return !chosen.has(event.event_id) || fresh.delete(`${event.tenant_id}/${event.event_id}`)
    })
  })
}

/** Three tables take turns by the day: see the migration. */
export function eventIdTables(now: Date): { today: string; yesterday: string; tomorrow: string } {
  const day = Math.floor(now.getTime() / DAY_MS)
  return {
    today: `event_ids_${day % 3}`,
    yesterday: `event_ids_${(day + 2) % 3}`,
    tomorrow: `event_ids_${(day + 1) % 3}`,
  }
}

function rememberIds(now: Date, tenantIds: string[], eventIds: string[], returning: boolean) {
  const { today, yesterday } = eventIdTables(now)
  return {
    name: `event_ids.remember.${today}.${returning}`,
    // Sorted, so that two processes that are sent the same ids wait for each other instead of blocking each other.
    text: `INSERT INTO ${today} (tenant_id, event_id)
      SELECT sent.tenant_id, sent.event_id FROM unnest($1::uuid[], $2::uuid[]) AS sent (tenant_id, event_id)
      WHERE NOT EXISTS (
        SELECT FROM ${yesterday} AS known WHERE known.tenant_id = sent.tenant_id AND known.event_id = sent.event_id
      )
      ORDER BY 1, 2
      ON CONFLICT DO NOTHING${returning ? ' RETURNING tenant_id, event_id' : ''}`,
    values: [tenantIds, eventIds],
  }
}

/** Makes visitors known and puts the contact of each identified visitor on its events. */
export async function resolveVisitors(client: pg.PoolClient, batches: Batch[], now: Date): Promise<void> {
  const visitors = new Map<string, { tenantId: string; visitorId: string }>()
  for (const { tenantId, visitorId } of batches) visitors.set(`${tenantId}/${visitorId}`, { tenantId, visitorId })
  const sent = [...visitors.values()]
  const tenantIds = sent.map(({ tenantId }) => tenantId)
  const visitorIds = sent.map(({ visitorId }) => visitorId)
  const known = await client.query<{ tenant_id: string; visitor_id: string; contact_id: string | null }>({
    name: 'visitors.resolve',
    text: `SELECT tenant_id, visitor_id, contact_id FROM visitors
      WHERE (tenant_id, visitor_id) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))`,
    values: [tenantIds, visitorIds],
  })
  const contacts = new Map<string, string>()
  for (const row of known.rows) {
    visitors.delete(`${row.tenant_id}/${row.visitor_id}`)
    if (row.contact_id) contacts.set(`${row.tenant_id}/${row.visitor_id}`, row.contact_id)
  }
  if (visitors.size > 0) {
    const fresh = [...visitors.values()]
    await client.query({
      name: 'visitors.add',
      text: `INSERT INTO visitors (tenant_id, visitor_id, created_at)
        SELECT *, $3::timestamptz FROM unnest($1::uuid[], $2::text[]) ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
      values: [fresh.map(({ tenantId }) => tenantId), fresh.map(({ visitorId }) => visitorId), now],
    })
  }
  if (contacts.size === 0) return
  for (const batch of batches) {
    const contactId = contacts.get(`${batch.tenantId}/${batch.visitorId}`) ?? NO_CONTACT
    for (const event of batch.events) event.contact_id = contactId
  }
}
