/** The service's writes for a request, sent to PostgreSQL alone: the same statements, without the reads. */
import type pg from 'pg'
import { type JournalTable, type SystemEvent, toRecords } from '../packages/server/src/journal/append.ts'
import { episodeId } from '../packages/server/src/journal/episodes.ts'
import {
  EMPTY_RECORD,
  type EventRecord,
  serializeEvents,
  serializeRows,
} from '../packages/server/src/journal/event-record.ts'
import { newId } from '../packages/server/src/platform/ids.ts'

/** A contact and its source's record are written by one statement. `$1` to `$6` mean the same in both. */
const SAVE_SOURCE = `INSERT INTO contact_sources (tenant_id, contact_id, source, kind, fields, first_seen_at, updated_at)
  SELECT tenant_id, contact_id, $3, $3, $5, $6, $6 FROM written
  ON CONFLICT (tenant_id, contact_id, source) DO UPDATE SET fields = excluded.fields, updated_at = excluded.updated_at`
const CREATE_CONTACT = `WITH written AS (
  INSERT INTO contacts (tenant_id, contact_id, creation_source, properties_provenance, first_seen_at, created_at, updated_at,
    properties, email)
  VALUES ($1, $2, $3::text, $4, $6::timestamptz, $6, $6, $7, $8) RETURNING tenant_id, contact_id)
  ${SAVE_SOURCE}`
const UPDATE_CONTACT = `WITH written AS (
  UPDATE contacts SET properties = properties || $7, properties_provenance = properties_provenance || $4, updated_at = $6,
    first_seen_at = least(first_seen_at, $8)
  WHERE tenant_id = $1 AND contact_id = $2 RETURNING tenant_id, contact_id)
  ${SAVE_SOURCE}`
const LINK_VISITOR = `WITH linked AS (UPDATE visitors SET contact_id = $3 WHERE tenant_id = $1 AND visitor_id = $2)
  INSERT INTO visitor_links (tenant_id, link_id, visitor_id, contact_id, previous_contact_id, source, linked_at)
  VALUES ($1, $4, $2, $3, NULL, $5, $6)`
const LINK_OWNER = 'INSERT INTO owner_links (tenant_id, owner_id, contact_id) VALUES ($1, $2, $3)'

const FIRST_TOUCH = {
  first_landing_page: 'https://bench.example/page-190?utm_source=s10',
  first_referrer: 'https://www.google.com/',
  first_utm_source: 's10',
}

/** What a request says of a person. */
interface Claim {
  visitorId: string
  email: string
  /** A form writes one more event, of its page, and what was entered. */
  form?: { formId: string; properties: Record<string, string> }
}

/** Creates a contact, links a visitor with events, and records the first touch. */
export async function bareIdentification(pool: pg.Pool, tenantId: string, claim: Claim): Promise<void> {
  const { visitorId, email, form } = claim
  const contactId = newId()
  const now = new Date()
  const source = form ? 'form' : 'identify'
  const entered = form?.properties ?? {}
  const sent = { ...entered, email }
  await inTransaction(pool, async (query) => {
    const contact = [tenantId, contactId, source, provenanceOf(sent, source, now), fieldsOf(sent, now), now]
    await query(CREATE_CONTACT, [...contact, entered, email])
    await query(LINK_VISITOR, [tenantId, visitorId, contactId, newId(), source, now])
    const link = { tenant_id: tenantId, owner_id: episodeId(tenantId, visitorId, 0), contact_id: contactId, version: 1 }
    await query(LINK_OWNER, [tenantId, link.owner_id, contactId])
    const provenance = provenanceOf(FIRST_TOUCH, 'tracker', now)
    const touch = [tenantId, contactId, 'tracker', provenance, fieldsOf(FIRST_TOUCH, now), now]
    await query(UPDATE_CONTACT, [...touch, FIRST_TOUCH, new Date(now.getTime() - 86_400_000)])
    const properties = { ...sent, ...FIRST_TOUCH }
    const events = toRecords(tenantId, [
      { event: 'contact_created', at: now, contactId, data: { properties: sent, source } },
      { event: 'contact_identified', at: now, contactId, data: { visitor_ids: [visitorId], source } },
      {
        event: 'contact_updated',
        at: now,
        contactId,
        data: { changed: Object.keys(FIRST_TOUCH), properties, source: 'tracker' },
      },
    ])
    await append(query, tenantId, [
      { table: 'owner_links', count: 1, rows: serializeRows([link]) },
      ofEvents(form ? [submissionOf(tenantId, contactId, claim, now), ...events] : events),
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
    const provenance = provenanceOf(properties, 'manual', now)
    const change = [tenantId, contactId, 'manual', provenance, fieldsOf(properties, now), now]
    await query(UPDATE_CONTACT, [...change, properties, null])
    const data = {
      changed: Object.keys(properties),
      properties: { ...OTHER_PROPERTIES, ...properties },
      source: 'manual',
    }
    const event: SystemEvent = { event: 'contact_updated', at: now, contactId, data }
    await append(query, tenantId, [ofEvents(toRecords(tenantId, [event]))])
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

function submissionOf(tenantId: string, contactId: string, { visitorId, form }: Claim, now: Date): EventRecord {
  return {
    ...EMPTY_RECORD,
    tenant_id: tenantId,
    event_id: newId(),
    event: 'form_submission',
    timestamp: now.getTime(),
    received_at: now.getTime(),
    visitor_id: visitorId,
    owner_id: contactId,
    is_anonymous: false,
    element_type: 'form',
    data: JSON.stringify({ form_id: form?.formId, fields: ['email', ...Object.keys(form?.properties ?? {})] }),
  }
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

/** A journal row: `count` rows of a table. */
interface Appended {
  table: JournalTable
  count: number
  rows: string
}

function ofEvents(records: readonly EventRecord[]): Appended {
  return { table: 'events', count: records.length, rows: serializeEvents(records) }
}

/** One statement for all journal rows of a request. */
async function append(query: Query, tenantId: string, appended: readonly Appended[]): Promise<void> {
  const places = appended.map((_, n) => `($${5 * n + 1}, $${5 * n + 2}, $${5 * n + 3}, $${5 * n + 4}, $${5 * n + 5})`)
  const values = appended.flatMap(({ table, count, rows }) => [newId(), table, [tenantId], count, rows])
  await query(
    `INSERT INTO journal (journal_id, table_name, tenant_ids, row_count, rows) VALUES ${places.join(', ')}`,
    values,
  )
}

function provenanceOf(values: object, source: string, now: Date): object {
  return Object.fromEntries(Object.keys(values).map((key) => [key, { source, updated_at: now.toISOString() }]))
}

function fieldsOf(values: object, now: Date): object {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, { value, updated_at: now.toISOString() }]),
  )
}
