import type pg from 'pg'
import { type Beginning, beginningOf } from './beginnings.ts'
import { episodeId } from './episodes.ts'
import type { EventGroup } from './event-record.ts'
import { eventIdTables, idParameters, rememberIds } from './sent-ids.ts'

const DIVISION_BY_ZERO = '22012'

/** A visitor, and the owner of its events. */
export interface FlushVisitor {
  tenantId: string
  visitorId: string
  contactId: string | null
  /** The number of the current anonymous episode, if the visitor has no contact. */
  episode: number
}

/** What a feature writes in the statement of a flush, so that it commits with the events. */
export interface FlushPart {
  /** Names the prepared statement, so a part of the same name has the same SQL. */
  name: string
  /** Common table expressions. The parameters are numbered from `firstParameter`. */
  sql(firstParameter: number): string
  values: readonly unknown[]
}

/** The rows that a flush writes. */
export interface Flush {
  journalId: string
  rows: string
  eventCount: number
  visitors: (FlushVisitor & { beginning: Beginning | null })[]
  groups: readonly EventGroup[]
  /** null if the events cause nothing else. */
  part: FlushPart | null
  now: Date
}

/** The visitors of the groups, with the beginnings of their episodes. */
const SENT = `SELECT * FROM unnest($4::uuid[], $5::text[], $7::uuid[], $8::integer[], $9::timestamptz[], $10::timestamptz[],
  $11::text[], $12::text[])
  AS sent (tenant_id, visitor_id, contact_id, episode, first_seen_at, first_page_at, first_url, first_referrer)`

/**
 * ON CONFLICT waits for any transaction that is changing the existing row, so known visitors must be excluded. A visitor
 * that another process is adding is neither inserted nor known here, so the flush is repeated and sees its row.
 */
const ADD_VISITORS = `INSERT INTO visitors
  (tenant_id, visitor_id, created_at, first_seen_at, first_page_at, first_url, first_referrer)
  SELECT tenant_id, visitor_id, $6::timestamptz, first_seen_at, first_page_at, first_url, first_referrer FROM sent
  WHERE NOT EXISTS (SELECT FROM visitors AS known
    WHERE known.tenant_id = sent.tenant_id AND known.visitor_id = sent.visitor_id)
  ORDER BY 1, 2 ON CONFLICT DO NOTHING RETURNING 1`

/**
 * An event that arrives late may be the earliest. Skips visitors that are being identified: a flush must not wait for
 * one tenant's transaction.
 */
const BEGIN_EARLIER = `UPDATE visitors SET first_seen_at = least(visitors.first_seen_at, earlier.first_seen_at),
    first_page_at = CASE WHEN earlier.has_page THEN earlier.first_page_at ELSE visitors.first_page_at END,
    first_url = CASE WHEN earlier.has_page THEN earlier.first_url ELSE visitors.first_url END,
    first_referrer = CASE WHEN earlier.has_page THEN earlier.first_referrer ELSE visitors.first_referrer END
  FROM (
    SELECT sent.*, sent.first_page_at < coalesce(visitor.first_page_at, 'infinity') AS has_page
    FROM sent JOIN visitors AS visitor ON visitor.tenant_id = sent.tenant_id AND visitor.visitor_id = sent.visitor_id
    WHERE visitor.contact_id IS NULL AND (sent.first_seen_at < coalesce(visitor.first_seen_at, 'infinity')
      OR sent.first_page_at < coalesce(visitor.first_page_at, 'infinity'))
    FOR NO KEY UPDATE OF visitor SKIP LOCKED
  ) AS earlier
  WHERE visitors.tenant_id = earlier.tenant_id AND visitors.visitor_id = earlier.visitor_id`

/**
 * Writes a whole flush in one statement: one round trip, one commit. It succeeds if every id that a sender chose is new
 * and every visitor is new or still has the owner recorded in its events.
 * @returns false if not; then nothing is written.
 */
export async function writeAtOnce(client: pg.PoolClient, flush: Flush): Promise<boolean> {
  const { visitors, part } = flush
  const values = [
    ...idParameters(flush.groups),
    visitors.map(({ tenantId }) => tenantId),
    visitors.map(({ visitorId }) => visitorId),
    flush.now,
    visitors.map(({ contactId }) => contactId),
    visitors.map(({ episode }) => episode),
    visitors.map(({ beginning }) => dateOf(beginning?.seenAt)),
    visitors.map(({ beginning }) => dateOf(beginning?.page?.at)),
    visitors.map(({ beginning }) => beginning?.page?.url ?? null),
    visitors.map(({ beginning }) => beginning?.page?.referrer ?? null),
    flush.journalId,
    flush.eventCount,
    flush.rows,
    [...new Set(flush.groups.map(({ tenantId }) => tenantId))],
  ]
  try {
    await client.query({
      name: `journal.flush.${eventIdTables(flush.now).today.table}${part ? `.${part.name}` : ''}`,
      text: `WITH remembered AS (${rememberIds(flush.now)}), sent AS (${SENT}), added AS (${ADD_VISITORS}),
        begun AS (${BEGIN_EARLIER}),
        ${part ? `${part.sql(values.length + 1)},` : ''}
        checked AS (
          SELECT (SELECT count(*) FROM remembered) = cardinality($1::uuid[])
            AND (SELECT count(*) FROM added) + count(*) = cardinality($5::text[]) AS is_valid
          FROM sent JOIN visitors ON visitors.tenant_id = sent.tenant_id AND visitors.visitor_id = sent.visitor_id
            AND visitors.contact_id IS NOT DISTINCT FROM sent.contact_id AND visitors.episode = sent.episode
        )
        INSERT INTO journal (journal_id, tenant_ids, row_count, rows)
        SELECT $13, $16::uuid[], $14, $15 FROM checked WHERE 1 / is_valid::integer = 1`,
      values: part ? [...values, ...part.values] : values,
    })
    return true
  } catch (error) {
    // The division is how a statement undoes itself: an error rolls back what it inserted.
    if ((error as { code?: string }).code === DIVISION_BY_ZERO) return false
    throw error
  }
}

function dateOf(milliseconds: number | undefined): Date | null {
  return milliseconds === undefined ? null : new Date(milliseconds)
}

/** The visitors of some groups as PostgreSQL has them; unknown ones are anonymous. */
export async function readVisitors(client: pg.PoolClient, groups: readonly EventGroup[]): Promise<FlushVisitor[]> {
  const visitors = distinctVisitors(groups)
  const { rows } = await client.query<{
    tenant_id: string
    visitor_id: string
    contact_id: string | null
    episode: number
  }>({
    text: `SELECT tenant_id, visitor_id, contact_id, episode FROM visitors
      WHERE (tenant_id, visitor_id) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))`,
    values: [visitors.map(({ tenantId }) => tenantId), visitors.map(({ visitorId }) => visitorId)],
  })
  const known = new Map(rows.map((row) => [visitorKey(row.tenant_id, row.visitor_id), row]))
  return visitors.map((visitor) => {
    const row = known.get(visitorKey(visitor.tenantId, visitor.visitorId))
    return row ? { ...visitor, contactId: row.contact_id, episode: row.episode } : visitor
  })
}

/** The distinct visitors of some groups, all as if they were new. */
export function distinctVisitors(groups: readonly EventGroup[]): FlushVisitor[] {
  const visitors = new Map<string, FlushVisitor>()
  for (const { tenantId, visitorId } of groups) {
    if (visitorId === null) continue
    visitors.set(visitorKey(tenantId, visitorId), { tenantId, visitorId, contactId: null, episode: 0 })
  }
  return [...visitors.values()]
}

/** Sets the owners of visitors' events. */
export function assignOwners(groups: readonly EventGroup[], visitors: readonly FlushVisitor[]): void {
  const owners = new Map(
    visitors.map((visitor) => {
      const { tenantId, visitorId, contactId, episode } = visitor
      return [
        visitorKey(tenantId, visitorId),
        { owner_id: contactId ?? episodeId(tenantId, visitorId, episode), is_anonymous: contactId === null },
      ]
    }),
  )
  for (const { tenantId, visitorId, events } of groups) {
    if (visitorId === null) continue
    const owner = owners.get(visitorKey(tenantId, visitorId))
    for (const event of events) Object.assign(event, owner)
  }
}

/**
 * The visitors with the beginnings of their episodes according to some groups; an identified visitor has no current
 * episode.
 */
export function withBeginnings(visitors: readonly FlushVisitor[], groups: readonly EventGroup[]): Flush['visitors'] {
  const beginnings = new Map<string, Beginning>()
  for (const { tenantId, visitorId, events } of groups) {
    if (visitorId === null) continue
    const key = visitorKey(tenantId, visitorId)
    const beginning = beginningOf(events, beginnings.get(key))
    if (beginning) beginnings.set(key, beginning)
  }
  return visitors.map((visitor) => ({
    ...visitor,
    beginning:
      visitor.contactId === null ? (beginnings.get(visitorKey(visitor.tenantId, visitor.visitorId)) ?? null) : null,
  }))
}

/** The key of a visitor in a Map. */
export function visitorKey(tenantId: string, visitorId: string): string {
  return `${tenantId}/${visitorId}`
}
