import { type Selectable, sql } from 'kysely'
import type { ChangeLog } from '../contacts/change-log.ts'
import { recordFirstTouch } from '../contacts/first-touch.ts'
import { isUnverified } from '../contacts/source-standing.ts'
import { type Beginning, earlierOf } from '../journal/beginnings.ts'
import { episodeId } from '../journal/episodes.ts'
import { conflict } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { linkOwners } from './owners.ts'

/** A person has a few browsers. Everything that happens to a contact, its erasure too, goes over all of its visitors. */
const VISITORS_MAX = 1_000
/** Anyone can link visitors through a page: the rest is reserved for the tenant's own systems. */
const VISITORS_MAX_FROM_PAGES = 500
/**
 * A visitor that goes on to another contact leaves its events behind, so a contact may have had more visitors than it has.
 * All of them are named by every question about its events: see owners.ts.
 */
const PAST_VISITORS_FACTOR = 10

/**
 * Makes visitors belong to a contact from now on, with their anonymous events, logs it, and records the contact's first
 * touch. Events that belong to a contact already stay there. Call registerVisitors before, and this in the transaction
 * that names the contact, with the contact locked: every path takes contacts before visitors, so that none waits for
 * another in a circle.
 * @returns how many visitors changed hands.
 * @throws ServiceError 409 `too_many_visitors`.
 */
export async function linkVisitors(
  tx: Tenant,
  log: ChangeLog,
  visitorIds: readonly string[],
  contactId: string,
  source: string,
  now: Date,
): Promise<number> {
  // Sorted, so that two requests naming the same visitors wait for each other instead of blocking each other.
  const ids = [...new Set(visitorIds)].sort()
  if (ids.length === 0) return 0
  const linked = await lockThoseOfOthers(tx, ids, contactId)
  if (linked.length === 0) return 0
  if (linked.length > (await roomFor(tx, contactId, source))) throw tooManyVisitors(source)
  return link(tx, log, linked, contactId, source, now)
}

/** The same, for as many visitors as the contact has room for, so that too many do not fail the rest of the write. */
export async function linkVisitorsThatFit(
  ...[tx, log, visitorIds, contactId, source, now]: Parameters<typeof linkVisitors>
) {
  const room = await roomFor(tx, contactId, source)
  const ids = [...new Set(visitorIds)].slice(0, room).sort()
  if (ids.length === 0) return 0
  return link(tx, log, await lockThoseOfOthers(tx, ids, contactId), contactId, source, now)
}

/**
 * Makes sure that visitors are known. Call it before the transaction that links them: a flush, which has the events of
 * many tenants, would wait for the end of a transaction that inserts one of its visitors.
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

/** Locks visitors. @returns those that do not belong to the contact. */
async function lockThoseOfOthers(tx: Tenant, ids: readonly string[], contactId: string): Promise<LockedVisitor[]> {
  const visitors = await tx.db
    .selectFrom('visitors')
    .select(LOCKED_COLUMNS)
    .where('visitor_id', 'in', ids)
    .orderBy('visitor_id')
    .forUpdate()
    .execute()
  return visitors.filter((visitor) => visitor.contact_id !== contactId)
}

async function link(
  tx: Tenant,
  log: ChangeLog,
  linked: readonly LockedVisitor[],
  contactId: string,
  source: string,
  now: Date,
): Promise<number> {
  if (linked.length === 0) return 0
  const linkedIds = linked.map(({ visitor_id }) => visitor_id)
  await tx.db.updateTable('visitors').set({ contact_id: contactId }).where('visitor_id', 'in', linkedIds).execute()
  await logLinks(tx, linked, contactId, source, now)
  const anonymous = linked.filter(({ contact_id }) => contact_id === null)
  const episodes = anonymous.map(({ visitor_id, episode }) => episodeId(tx.id, visitor_id, episode))
  await linkOwners(tx, episodes, contactId)
  log.events.push({ event: 'contact_identified', at: now, contactId, data: { visitor_ids: linkedIds, source } })
  log.noteChange(contactId, [])
  log.linked.add(contactId)
  const beginning = anonymous.map(beginningOf).reduce(earlierOf, null)
  if (beginning) await recordFirstTouch(tx, log, contactId, beginning, now)
  return linked.length
}

/**
 * Hands visitors of a contact to another, with what they do from now on. Lock both contacts first.
 * @param only these of them; undefined: all.
 * @returns those that changed hands.
 * @throws ServiceError 409 `too_many_visitors`.
 */
export async function moveVisitors(
  tx: Tenant,
  { from, to, only }: { from: string; to: string; only?: readonly string[] },
  source: string,
  now: Date,
): Promise<string[]> {
  let held = tx.db.selectFrom('visitors').select(['visitor_id', 'contact_id']).where('contact_id', '=', from)
  if (only) held = held.where('visitor_id', '=', sql<string>`any(${[...only]}::text[])`)
  const visitors = await held.orderBy('visitor_id').forUpdate().execute()
  if (visitors.length === 0) return []
  if (visitors.length > (await roomFor(tx, to, source))) throw tooManyVisitors(source)
  const ids = visitors.map(({ visitor_id }) => visitor_id)
  await tx.db
    .updateTable('visitors')
    .set({ contact_id: to })
    .where('visitor_id', '=', sql<string>`any(${ids}::text[])`)
    .execute()
  await logLinks(tx, visitors, to, source, now)
  return ids
}

/** How many more visitors a source may link to a contact. */
async function roomFor(tx: Tenant, contactId: string, source: string): Promise<number> {
  const some = tx.db.selectFrom('visitors').select('visitor_id').where('contact_id', '=', contactId).limit(VISITORS_MAX)
  const { count } = await tx.db
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const had = tx.db
    .selectFrom('owner_links')
    .select('owner_id')
    .where('contact_id', '=', contactId)
    .limit(VISITORS_MAX * PAST_VISITORS_FACTOR)
  const { past } = await tx.db
    .selectFrom(had.as('had'))
    .select(({ fn }) => fn.countAll<number>().as('past'))
    .executeTakeFirstOrThrow()
  const max = visitorsMax(source)
  return Math.max(0, Math.min(max - Number(count), max * PAST_VISITORS_FACTOR - Number(past)))
}

function visitorsMax(source: string): number {
  return isUnverified(source) ? VISITORS_MAX_FROM_PAGES : VISITORS_MAX
}

function tooManyVisitors(source: string) {
  const max = visitorsMax(source)
  const message = `The contact would have more than ${max} visitors, or have had more than ${max * PAST_VISITORS_FACTOR}. Do many people share this id or e-mail address?`
  return conflict('too_many_visitors', message)
}

/** Makes the visitors of a contact that is about to go anonymous again; what they did so far stays with the contact. */
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
  await logLinks(tx, links, null, source, now)
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

function beginningOf({ first_seen_at, first_page_at, first_url, first_referrer }: LockedVisitor): Beginning | null {
  if (first_seen_at === null) return null
  const hasPage = first_page_at !== null && first_url !== null
  const page = hasPage ? { at: first_page_at.getTime(), url: first_url, referrer: first_referrer ?? '' } : null
  return { seenAt: first_seen_at.getTime(), page }
}

async function logLinks(tx: Tenant, before: readonly Link[], contactId: string | null, source: string, now: Date) {
  const rows = before.map(({ visitor_id, contact_id }) => ({
    link_id: newId(),
    visitor_id,
    contact_id: contactId,
    previous_contact_id: contact_id,
    source,
    linked_at: now,
  }))
  await tx.db.insertInto('identity_links').values(rows).execute()
}
