import { type Selectable, sql } from 'kysely'
import { type Beginning, earlierOf } from '../../journal/beginnings.ts'
import { episodeId } from '../../journal/episodes.ts'
import { countOwners, linkOwners } from '../../owners/link-owners.ts'
import { conflict } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ChangeLog } from '../change-log.ts'
import type { ContactRow } from '../contact-row.ts'
import { recordFirstTouch } from '../first-touch.ts'
import { isUnverified } from '../source-trust.ts'

/** A person has a few browsers. Many operations on a contact, such as its erasure, process all of its visitors. */
const VISITORS_MAX = 1_000
/** Anyone can link visitors through a page, so the rest is reserved for the tenant's own systems. */
const VISITORS_MAX_FROM_PAGES = 500
/**
 * A visitor that is later identified as another contact leaves its events behind, so a contact may have had more
 * visitors than it has now. Every query of its events names all of them: see owners.ts.
 */
const PAST_VISITORS_FACTOR = 10
/** Where counting visitors whose events belong to a contact stops. */
const PAST_VISITORS_MAX = VISITORS_MAX * PAST_VISITORS_FACTOR

/** The result of linking visitors to a contact. */
export interface Linking {
  /** How many visitors got a new contact. */
  linked: number
  /** The contact, with the first touch of these visitors. */
  row: ContactRow
}

/**
 * Links visitors to a contact, with their anonymous events, logs it, and records the contact's first touch. Events that
 * already belong to a contact stay there. Call registerVisitors first, then this in the transaction that finds the
 * contact, with the contact locked. All code locks contacts before visitors, which prevents deadlocks.
 * @param row the contact as it is stored now.
 * @throws ServiceError 409 `too_many_visitors`.
 */
export async function linkVisitors(
  tx: Tenant,
  log: ChangeLog,
  visitorIds: readonly string[],
  row: ContactRow,
  source: string,
  now: Date,
): Promise<Linking> {
  if (visitorIds.length === 0) return { linked: 0, row }
  const { others, remaining } = await lockVisitors(tx, visitorIds, row.contact_id, source)
  if (others.length > remaining) throw tooManyVisitors(source)
  return link(tx, log, others, row, source, now)
}

/**
 * Links as many visitors as the contact's limit allows, so that too many do not fail the rest of the write.
 */
export async function linkVisitorsThatFit(
  ...[tx, log, visitorIds, row, source, now]: Parameters<typeof linkVisitors>
): Promise<Linking> {
  if (visitorIds.length === 0) return { linked: 0, row }
  const { others, remaining } = await lockVisitors(tx, visitorIds, row.contact_id, source)
  return link(tx, log, others.slice(0, remaining), row, source, now)
}

/**
 * Inserts unknown visitors. Call it before the transaction that links them: a flush, which has events of many tenants,
 * would otherwise wait for the end of a transaction that inserts one of its visitors.
 */
export async function registerVisitors(tenant: Tenant, visitorIds: readonly string[], now: Date): Promise<void> {
  const ids = [...new Set(visitorIds)].sort()
  if (ids.length === 0) return
  await tenant.db
    .insertInto('visitors')
    .values(ids.map((visitor_id) => ({ visitor_id, created_at: now })))
    .onConflict((known) => known.columns(['visitor_id']).doNothing())
    .execute()
}

/**
 * Locks visitors.
 * @returns those that do not belong to the contact, in the order given, and how many more the source may link to it.
 */
async function lockVisitors(
  tx: Tenant,
  visitorIds: readonly string[],
  contactId: string,
  source: string,
): Promise<{ others: LockedVisitor[]; remaining: number }> {
  // Sorted, so that two requests with the same visitors cannot deadlock.
  const ids = [...new Set(visitorIds)].sort()
  const visitors = await tx.db
    .selectFrom('visitors')
    .select(LOCKED_COLUMNS)
    .select([countCurrent(tx, contactId).as('current'), countOwners(tx, contactId, PAST_VISITORS_MAX).as('past')])
    .where('visitor_id', 'in', ids)
    .orderBy('visitor_id')
    .forUpdate()
    .execute()
  const byId = new Map(visitors.map((visitor) => [visitor.visitor_id, visitor]))
  const named = [...new Set(visitorIds)].flatMap((id) => byId.get(id) ?? [])
  const [counts] = visitors
  return {
    others: named.filter(({ contact_id }) => contact_id !== contactId),
    remaining: remainingVisitors({ current: Number(counts?.current ?? 0), past: Number(counts?.past ?? 0) }, source),
  }
}

async function link(
  tx: Tenant,
  log: ChangeLog,
  linked: readonly LockedVisitor[],
  row: ContactRow,
  source: string,
  now: Date,
): Promise<Linking> {
  if (linked.length === 0) return { linked: 0, row }
  const contactId = row.contact_id
  const linkedIds = linked.map(({ visitor_id }) => visitor_id)
  await assignVisitors(tx, linked, contactId, source, now)
  const anonymous = linked.filter(({ contact_id }) => contact_id === null)
  const episodes = anonymous.map(({ visitor_id, episode }) => episodeId(tx.id, visitor_id, episode))
  await linkOwners(tx, log, episodes, contactId)
  log.events.push({ event: 'contact_identified', at: now, contactId, data: { visitor_ids: linkedIds, source } })
  log.noteChange(contactId, [])
  log.linked.add(contactId)
  const beginning = anonymous.map(episodeStartOf).reduce(earlierOf, null)
  const touched = beginning ? await recordFirstTouch(tx, log, row, beginning, now) : row
  return { linked: linked.length, row: touched }
}

/**
 * Moves visitors of a contact to another, with their future events. Lock both contacts first.
 * @param only the visitors to move; undefined: all.
 * @returns the moved visitors.
 * @throws ServiceError 409 `too_many_visitors`.
 */
export async function moveVisitors(
  tx: Tenant,
  { from, to, only }: { from: string; to: string; only?: readonly string[] },
  source: string,
  now: Date,
): Promise<string[]> {
  let moving = tx.db.selectFrom('visitors').select(['visitor_id', 'contact_id']).where('contact_id', '=', from)
  if (only) moving = moving.where('visitor_id', '=', sql<string>`any(${[...only]}::text[])`)
  const visitors = await moving.orderBy('visitor_id').forUpdate().execute()
  if (visitors.length === 0) return []
  const { current } = await countCurrent(tx, to).executeTakeFirstOrThrow()
  const { owners: past } = await countOwners(tx, to, PAST_VISITORS_MAX).executeTakeFirstOrThrow()
  if (visitors.length > remainingVisitors({ current, past }, source)) throw tooManyVisitors(source)
  await assignVisitors(tx, visitors, to, source, now)
  return visitors.map(({ visitor_id }) => visitor_id)
}

/** How many visitors a contact has, counted up to the limit. */
function countCurrent(tx: Tenant, contactId: string) {
  const some = tx.db.selectFrom('visitors').select('visitor_id').where('contact_id', '=', contactId).limit(VISITORS_MAX)
  return tx.db.selectFrom(some.as('some')).select(({ fn }) => fn.countAll<number>().as('current'))
}

/** How many more visitors a source may link to a contact, given how many it has and has had. */
function remainingVisitors({ current, past }: { current: number; past: number }, source: string): number {
  const max = visitorsMax(source)
  return Math.max(0, Math.min(max - current, max * PAST_VISITORS_FACTOR - past))
}

function visitorsMax(source: string): number {
  return isUnverified(source) ? VISITORS_MAX_FROM_PAGES : VISITORS_MAX
}

function tooManyVisitors(source: string) {
  const max = visitorsMax(source)
  const message = `The contact would have more than ${max} visitors now, or more than ${max * PAST_VISITORS_FACTOR} over time. Check whether several people share this id or email address.`
  return conflict('too_many_visitors', message)
}

/**
 * Makes the visitors of a contact that is being deleted anonymous again; their events so far stay with the contact.
 */
export async function unlinkVisitors(tx: Tenant, contactId: string, source: string, now: Date): Promise<void> {
  const visitors = await tx.db
    .updateTable('visitors')
    .set(({ eb }) => ({
      contact_id: null,
      episode: eb('episode', '+', 1),
      first_seen_at: null,
      first_page_at: null,
      first_url: null,
      first_referrer: null,
    }))
    .where('contact_id', '=', contactId)
    .returning(['visitor_id'])
    .execute()
  if (visitors.length === 0) return
  const links = visitors.map(({ visitor_id }) => ({ visitor_id, contact_id: contactId }))
  await tx.db
    .insertInto('visitor_links')
    .values(toLog(links, null, source, now))
    .execute()
}

const LOCKED_COLUMNS = [
  'visitor_id',
  'contact_id',
  'episode',
  'first_seen_at',
  'first_page_at',
  'first_url',
  'first_referrer',
] as const

type LockedVisitor = Pick<Selectable<TenantTables['visitors']>, (typeof LOCKED_COLUMNS)[number]>
type Link = Pick<LockedVisitor, 'visitor_id' | 'contact_id'>

function episodeStartOf({ first_seen_at, first_page_at, first_url, first_referrer }: LockedVisitor): Beginning | null {
  if (first_seen_at === null) return null
  const hasPage = first_page_at !== null && first_url !== null
  const page = hasPage ? { at: first_page_at.getTime(), url: first_url, referrer: first_referrer ?? '' } : null
  return { seenAt: first_seen_at.getTime(), page }
}

/** Links locked visitors to a contact and logs it. */
async function assignVisitors(
  tx: Tenant,
  visitors: readonly Link[],
  contactId: string,
  source: string,
  now: Date,
): Promise<void> {
  const ids = visitors.map(({ visitor_id }) => visitor_id)
  await tx.db
    .with('moved', (db) =>
      db
        .updateTable('visitors')
        .set({ contact_id: contactId })
        .where('visitor_id', '=', sql<string>`any(${ids}::text[])`),
    )
    .insertInto('visitor_links')
    .values(toLog(visitors, contactId, source, now))
    .execute()
}

function toLog(before: readonly Link[], contactId: string | null, source: string, now: Date) {
  return before.map(({ visitor_id, contact_id }) => ({
    link_id: newId(),
    visitor_id,
    contact_id: contactId,
    previous_contact_id: contact_id,
    source,
    linked_at: now,
  }))
}
