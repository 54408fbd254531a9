import { hash } from 'node:crypto'
import type pg from 'pg'
import { asForeignId, asOwnId, isOwnId, newId, timeOfId } from '../platform/ids.ts'
import { uuidArray } from '../platform/postgres/uuid-array.ts'
import { DAY_MS } from '../platform/time.ts'
import type { EventGroup, EventRecord, SentId } from './event-record.ts'

/** An id whose time is further away may be older than the ids in the tables, which are kept for at least a day. */
const TIME_AWAY_MS_MAX = DAY_MS / 2

/** One of three tables that rotate daily: see tables.sql. */
export interface EventIdTable {
  turn: number
  /** Days since 1970. */
  day: number
  table: string
}

export function eventIdTables(now: Date): Record<'today' | 'tomorrow' | 'yesterday', EventIdTable> {
  const today = Math.floor(now.getTime() / DAY_MS)
  const ofDay = (day: number) => ({ turn: day % 3, day, table: `event_ids_${day % 3}` })
  return { today: ofDay(today), tomorrow: ofDay(today + 1), yesterday: ofDay(today - 1) }
}

/**
 * Whether an event can keep the id that its sender chose, unless another sender has used it. The tables do not contain
 * the service's own ids, and may no longer contain a UUIDv7 from another day: with one of those, a sender could shadow
 * an older event.
 */
export function canBeEventId(id: string, now: Date): boolean {
  const moment = timeOfId(id)
  return !isOwnId(id) && (moment === null || Math.abs(moment - now.getTime()) <= TIME_AWAY_MS_MAX)
}

/**
 * The sender of the ids: if two visitors send one id, these are two events. Requests without a visitor share one
 * sender.
 */
export function senderOf(visitorId: string | null): string {
  const digits = hash('sha256', visitorId === null ? 'no visitor' : `visitor ${visitorId}`)
  return uuidOf(digits.slice(20, 28), digits.slice(28, 32), digits)
}

/** The sender of the ids that a source chose; null for API keys, which share one. */
export function senderOfSource(sourceId: string | null): string {
  const digits = hash('sha256', `source ${sourceId ?? 'api'}`)
  return uuidOf(digits.slice(20, 28), digits.slice(28, 32), digits)
}

/**
 * A UUID for an id that is any text, such as the messageId of an SDK: the same for the same text of the same source, and
 * never one that `canBeEventId` refuses.
 */
export function eventIdOf(sourceId: string, text: string): string {
  const digits = hash('sha256', `source ${sourceId} ${text}`)
  // Version 8, whose digits mean nothing: a version 7 would name a time.
  return asForeignId(
    uuidOf(digits.slice(20, 28), digits.slice(28, 32), `8${digits.slice(1, 4)}8${digits.slice(5, 20)}`),
  )
}

/**
 * The key stored instead of an id that the tables cannot store. It has the form of the service's own ids, so that no
 * sender can send it. It starts like the id, because time-ordered keys are faster to write than random ones.
 */
function keyWithin(sender: string, id: string): string {
  return asOwnId(uuidOf(id.slice(0, 8), id.slice(9, 13), hash('sha256', `${sender} ${id}`)))
}

function uuidOf(first: string, second: string, digits: string): string {
  return [first, second, digits.slice(0, 4), digits.slice(4, 8), digits.slice(8, 20)].join('-')
}

/** An id to store, and its event. */
interface IdToStore extends SentId {
  tenantId: string
  sender: string
  key: string
}

function idsToStore(groups: readonly EventGroup[]): IdToStore[] {
  return groups.flatMap(({ tenantId, sender, sentIds }) =>
    sentIds.map(({ event, id }) => {
      const key = isOwnId(id) ? keyWithin(sender, id) : id
      return { tenantId, sender, event, id, key }
    }),
  )
}

/** The ids of some groups as the parameters of `rememberIds`. */
export function idParameters(groups: readonly EventGroup[]): Buffer[] {
  return parametersOf(idsToStore(groups))
}

function parametersOf(ids: readonly IdToStore[]): Buffer[] {
  return (['tenantId', 'key', 'sender'] as const).map((name) => uuidArray(ids.map((id) => id[name])))
}

/**
 * SQL that inserts ids ($1 tenants, $2 keys, $3 senders) that are in none of the tables. Checking yesterday's alone
 * would suffice if all clocks agreed; for a process whose clock is behind, the ids that others write today are in
 * tomorrow's table.
 */
export function rememberIds(now: Date): string {
  const { today, tomorrow, yesterday } = eventIdTables(now)
  const isNew = [yesterday, tomorrow].map(
    ({ table }) => `NOT EXISTS (
      SELECT FROM ${table} AS known WHERE known.tenant_id = sent.tenant_id AND known.key = sent.key
    )`,
  )
  // Sorted, so that two processes that are sent the same ids wait for each other instead of blocking each other.
  return `INSERT INTO ${today.table} (tenant_id, key, sender)
    SELECT sent.tenant_id, sent.key, sent.sender
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS sent (tenant_id, key, sender)
    WHERE ${isNew.join(' AND ')}
    ORDER BY 1, 2
    ON CONFLICT DO NOTHING RETURNING tenant_id, key, sender`
}

/**
 * Stores the ids that senders chose and removes events that were recorded before. An event whose id another sender has
 * used gets a new id. Call it in a transaction. @returns the events to record.
 */
export async function removeRepeated(
  client: pg.PoolClient,
  groups: readonly EventGroup[],
  now: Date,
): Promise<EventRecord[]> {
  const ids = idsToStore(groups)
  if (ids.length === 0) return groups.flatMap((group) => group.events)
  const isNew = await remember(client, ids, now)
  const used = await usedByOthers(
    client,
    ids.filter((id) => !isNew.has(id)),
  )
  // This cannot deadlock: no transaction inserts the first kind of key after the second.
  const renamed = used.map((sent) => ({ ...sent, key: keyWithin(sent.sender, sent.id) }))
  const isNewWithin = await remember(client, renamed, now)
  for (const { event } of isNewWithin) event.event_id = newId()
  const recorded = new Set([...isNew, ...isNewWithin].map(({ event }) => event))
  const sent = new Set(ids.map(({ event }) => event))
  return groups.flatMap(({ events }) => events.filter((event) => !sent.has(event) || recorded.has(event)))
}

/** @returns the ids that are new; of duplicates, the first. */
async function remember(client: pg.PoolClient, ids: readonly IdToStore[], now: Date): Promise<Set<IdToStore>> {
  if (ids.length === 0) return new Set()
  const { rows } = await client.query<IdRow>(rememberIds(now), parametersOf(ids))
  const inserted = new Set(rows.map(textOf))
  // Deleting marks it as used: the same id twice in one flush is recorded once.
  return new Set(
    ids.filter(({ tenantId, key, sender }) => inserted.delete(textOf({ tenant_id: tenantId, key, sender }))),
  )
}

/** The ids that another sender has used. */
async function usedByOthers(client: pg.PoolClient, ids: readonly IdToStore[]): Promise<IdToStore[]> {
  const contested = ids.filter(({ key, id }) => key === id)
  if (contested.length === 0) return []
  const tables = [0, 1, 2].map((turn) => `SELECT tenant_id, key, sender FROM event_ids_${turn}`)
  const { rows } = await client.query<IdRow>(
    `SELECT tenant_id, key, sender FROM (${tables.join(' UNION ALL ')}) AS known
      WHERE (tenant_id, key) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))`,
    parametersOf(contested).slice(0, 2),
  )
  const own = new Set(rows.map(textOf))
  return contested.filter(({ tenantId, key, sender }) => !own.has(textOf({ tenant_id: tenantId, key, sender })))
}

interface IdRow {
  tenant_id: string
  key: string
  sender: string
}

/** The key of a stored id in a Set. */
function textOf({ tenant_id, key, sender }: IdRow): string {
  return `${tenant_id}/${key}/${sender}`
}
