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

/**
 * The SQL about visitors, which contacts/ owns: it knows the journal, not the other way round. A flush executes it in its one
 * statement. There, `sent` has its visitors: `tenant_id`, `visitor_id`, the `contact_id` and `episode` that its events
 * record as their owner, `sent_at`, and the beginning of the episode: `first_seen_at`, `first_page_at`, `first_url`,
 * `first_referrer`.
 */
export interface VisitorStatements {
  /** Adds those of `sent` that are unknown, and returns a row for each. */
  add: string
  /** Sets earlier beginnings of episodes. */
  begin: string
  /** Selects those of `sent` that were known and still have the recorded owner. */
  unchanged: string
  /** Selects visitors by their tenants, $1, and ids, $2, before a flush that could not guess their owners. */
  read: string
}

/** The visitors of the groups, with the beginnings of their episodes. */
const SENT = `SELECT *, $6::timestamptz AS sent_at FROM unnest($4::uuid[], $5::text[], $7::uuid[], $8::integer[], $9::timestamptz[], $10::timestamptz[],
  $11::text[], $12::text[])
  AS sent (tenant_id, visitor_id, contact_id, episode, first_seen_at, first_page_at, first_url, first_referrer)`

/**
 * Writes a whole flush in one statement: one round trip, one commit. It succeeds if every id that a sender chose is new
 * and every visitor is new or still has the owner recorded in its events.
 * @returns false if not; then nothing is written.
 */
export async function writeAtOnce(
  client: pg.PoolClient,
  statements: VisitorStatements,
  flush: Flush,
): Promise<boolean> {
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
      text: `WITH remembered AS (${rememberIds(flush.now)}), sent AS (${SENT}), added AS (${statements.add}),
        begun AS (${statements.begin}), unchanged AS (${statements.unchanged}),
        ${part ? `${part.sql(values.length + 1)},` : ''}
        checked AS (
          SELECT (SELECT count(*) FROM remembered) = cardinality($1::uuid[])
            AND (SELECT count(*) FROM added) + (SELECT count(*) FROM unchanged) = cardinality($5::text[]) AS is_valid
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
export async function readVisitors(
  client: pg.PoolClient,
  { read }: Pick<VisitorStatements, 'read'>,
  groups: readonly EventGroup[],
): Promise<FlushVisitor[]> {
  const visitors = distinctVisitors(groups)
  const { rows } = await client.query<{
    tenant_id: string
    visitor_id: string
    contact_id: string | null
    episode: number
  }>({
    text: read,
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
