/** The service's writes for a request, sent to PostgreSQL alone: the same statements, without the reads. */
import type pg from 'pg'
import { type SystemEvent, toRecords } from '../packages/server/src/journal/append.ts'
import { episodeId } from '../packages/server/src/journal/episodes.ts'
import { serializeEvents, serializeRows } from '../packages/server/src/journal/event-record.ts'
import { newId } from '../packages/server/src/platform/ids.ts'

const CREATE_CONTACT = `INSERT INTO contacts
  (tenant_id, contact_id, email, properties_provenance, creation_source, first_seen_at, created_at, updated_at)
  VALUES ($1, $2, $3, $4, 'identify', $5, $5, $5)`
const UPDATE_CONTACT = `UPDATE contacts SET properties = properties || $3,
  properties_provenance = properties_provenance || $4, updated_at = $5 WHERE tenant_id = $1 AND contact_id = $2`
const SET_FIRST_SEEN = 'UPDATE contacts SET first_seen_at = $3 WHERE tenant_id = $1 AND contact_id = $2'
const SAVE_SOURCE = `INSERT INTO contact_sources (tenant_id, contact_id, source, kind, fields, first_seen_at, updated_at)
  VALUES ($1, $2, $3, $3, $4, $5, $5)
  ON CONFLICT (tenant_id, contact_id, source) DO UPDATE SET fields = excluded.fields, updated_at = excluded.updated_at`
const LINK_VISITOR = 'UPDATE visitors SET contact_id = $3 WHERE tenant_id = $1 AND visitor_id = $2'
const LOG_LINK = `INSERT INTO identity_links
  (tenant_id, link_id, visitor_id, contact_id, previous_contact_id, source, linked_at)
  VALUES ($1, $2, $3, $4, NULL, 'identify', $5)`
const LINK_OWNER = 'INSERT INTO owner_links (tenant_id, owner_id, contact_id) VALUES ($1, $2, $3)'
const APPEND = `INSERT INTO journal (journal_id, table_name, tenant_ids, row_count, rows) VALUES ($1, $2, $3, $4, $5)`

const FIRST_TOUCH = {
  first_landing_page: 'https://bench.example/page-190?utm_source=s10',
  first_referrer: 'https://www.google.com/',
  first_utm_source: 's10',
}

/** Creates a contact, links a visitor with events, and records the first touch. A form writes one more event. */
export async function bareIdentification(
  pool: pg.Pool,
  tenantId: string,
  visitorId: string,
  email: string,
): Promise<void> {
  const contactId = newId()
  const now = new Date()
  await inTransaction(pool, async (query) => {
    await query(CREATE_CONTACT, [tenantId, contactId, email, provenanceOf({ email }, 'identify', now), now])
    await query(SAVE_SOURCE, [tenantId, contactId, 'identify', fieldsOf({ email }, now), now])
    await query(LINK_VISITOR, [tenantId, visitorId, contactId])
    await query(LOG_LINK, [tenantId, newId(), visitorId, contactId, now])
    const link = { tenant_id: tenantId, owner_id: episodeId(tenantId, visitorId, 0), contact_id: contactId, version: 1 }
    await query(LINK_OWNER, [tenantId, link.owner_id, contactId])
    await query(APPEND, [newId(), 'owner_links', [tenantId], 1, serializeRows([link])])
    await query(SET_FIRST_SEEN, [tenantId, contactId, new Date(now.getTime() - 86_400_000)])
    const provenance = provenanceOf(FIRST_TOUCH, 'tracker', now)
    await query(UPDATE_CONTACT, [tenantId, contactId, FIRST_TOUCH, provenance, now])
    await query(SAVE_SOURCE, [tenantId, contactId, 'tracker', fieldsOf(FIRST_TOUCH, now), now])
    const properties = { email, ...FIRST_TOUCH }
    await appendEvents(query, tenantId, [
      { event: 'contact_created', at: now, contactId, data: { properties: { email }, source: 'identify' } },
      { event: 'contact_identified', at: now, contactId, data: { visitor_ids: [visitorId], source: 'identify' } },
      {
        event: 'contact_updated',
        at: now,
        contactId,
        data: { changed: Object.keys(FIRST_TOUCH), properties, source: 'tracker' },
      },
    ])
  })
}

/** Changes properties of a contact by hand. */
export async function bareChange(
  pool: pg.Pool,
  tenantId: string,
  contactId: string,
  properties: Record<string, string | number>,
): Promise<void> {
  const now = new Date()
  await inTransaction(pool, async (query) => {
    await query(UPDATE_CONTACT, [tenantId, contactId, properties, provenanceOf(properties, 'manual', now), now])
    await query(SAVE_SOURCE, [tenantId, contactId, 'manual', fieldsOf(properties, now), now])
    const data = {
      changed: Object.keys(properties),
      properties: { ...OTHER_PROPERTIES, ...properties },
      source: 'manual',
    }
    await appendEvents(query, tenantId, [{ event: 'contact_updated', at: now, contactId, data }])
  })
}

/** The event of a change has all properties. */
const OTHER_PROPERTIES = {
  firstname: 'First123',
  lastname: 'Last1234',
  company: 'Company 1234',
  jobtitle: 'Marketing Manager',
  lifecyclestage: 'customer',
  country: 'United States',
  city: 'City 123',
  industry: 'Industry 12',
}

type Query = (text: string, values: unknown[]) => Promise<unknown>

async function inTransaction(pool: pg.Pool, work: (query: Query) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await work((text, values) => client.query(text, values))
    await client.query('COMMIT')
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}

async function appendEvents(query: Query, tenantId: string, events: SystemEvent[]): Promise<void> {
  const rows = serializeEvents(toRecords(tenantId, events))
  await query(APPEND, [newId(), 'events', [tenantId], events.length, rows])
}

function provenanceOf(values: object, source: string, now: Date): object {
  return Object.fromEntries(Object.keys(values).map((key) => [key, { source, updated_at: now.toISOString() }]))
}

function fieldsOf(values: object, now: Date): object {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, { value, updated_at: now.toISOString() }]),
  )
}
