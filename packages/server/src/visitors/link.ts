import type { ChangeLog } from '../contacts/change-log.ts'
import { isUnverified } from '../contacts/source-standing.ts'
import { conflict } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'

/** A person has a few browsers. Everything that happens to a contact, its erasure too, goes over all of its visitors. */
const VISITORS_MAX = 1_000
/** Anyone can link visitors through a page: the rest is reserved for the tenant's own systems. */
const VISITORS_MAX_FROM_PAGES = 500

/**
 * Makes visitors belong to a contact from now on, logs it, and has the anonymous events that they left so far moved
 * onto it. Events that belong to a contact already stay there. Call it in the transaction that names the contact, and
 * lock the contact first: every path takes contacts before visitors, so that none waits for another in a circle.
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
  const linked = await lockThoseOfOthers(tx, ids, contactId, now)
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
  return link(tx, log, await lockThoseOfOthers(tx, ids, contactId, now), contactId, source, now)
}

/** Locks visitors, those that are new too. @returns those that do not belong to the contact. */
async function lockThoseOfOthers(tx: Tenant, ids: readonly string[], contactId: string, now: Date): Promise<Link[]> {
  await tx.db
    .insertInto('visitors')
    .values(ids.map((visitor_id) => ({ visitor_id, created_at: now })))
    .onConflict((known) => known.columns(['visitor_id']).doNothing())
    .execute()
  const visitors = await tx.db
    .selectFrom('visitors')
    .select(['visitor_id', 'contact_id'])
    .where('visitor_id', 'in', ids)
    .orderBy('visitor_id')
    .forUpdate()
    .execute()
  return visitors.filter((visitor) => visitor.contact_id !== contactId)
}

async function link(
  tx: Tenant,
  log: ChangeLog,
  linked: readonly Link[],
  contactId: string,
  source: string,
  now: Date,
): Promise<number> {
  if (linked.length === 0) return 0
  const linkedIds = linked.map(({ visitor_id }) => visitor_id)
  await tx.db.updateTable('visitors').set({ contact_id: contactId }).where('visitor_id', 'in', linkedIds).execute()
  await logLinks(tx, linked, contactId, source, now)
  const anonymous = linked.filter(({ contact_id }) => contact_id === null).map(({ visitor_id }) => visitor_id)
  if (anonymous.length > 0) await queueMoves(tx, anonymous, contactId)
  log.events.push({ event: 'contact_identified', at: now, contactId, data: { visitor_ids: linkedIds, source } })
  log.noteChange(contactId, [])
  log.linked.add(contactId)
  return linked.length
}

/** How many more visitors a source may link to a contact. */
async function roomFor(tx: Tenant, contactId: string, source: string): Promise<number> {
  const some = tx.db.selectFrom('visitors').select('visitor_id').where('contact_id', '=', contactId).limit(VISITORS_MAX)
  const { count } = await tx.db
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Math.max(0, visitorsMax(source) - Number(count))
}

function visitorsMax(source: string): number {
  return isUnverified(source) ? VISITORS_MAX_FROM_PAGES : VISITORS_MAX
}

function tooManyVisitors(source: string) {
  const message = `The contact would have more than ${visitorsMax(source)} visitors. Do many people share this id or e-mail address?`
  return conflict('too_many_visitors', message)
}

/** Makes the visitors of a contact that is about to go anonymous again; what they did so far stays with the contact. */
export async function unlinkVisitors(tx: Tenant, contactId: string, source: string, now: Date): Promise<void> {
  const visitors = await tx.db
    .updateTable('visitors')
    .set({ contact_id: null })
    .where('contact_id', '=', contactId)
    .returning(['visitor_id'])
    .execute()
  if (visitors.length === 0) return
  await tx.db
    .updateTable('visitor_moves')
    .set({ received_until: now })
    .where('contact_id', '=', contactId)
    .where('received_until', 'is', null)
    .execute()
  const links = visitors.map(({ visitor_id }) => ({ visitor_id, contact_id: contactId }))
  await logLinks(tx, links, null, source, now)
}

interface Link {
  visitor_id: string
  contact_id: string | null
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

/**
 * An event is anonymous in ClickHouse because its visitor was when it was recorded: it belongs to whoever the visitor
 * became next. So a move ends where an earlier one of the same visitor, cut off by a deletion, ended.
 */
async function queueMoves(tx: Tenant, visitorIds: readonly string[], contactId: string): Promise<void> {
  const earlier = await tx.db
    .selectFrom('visitor_moves')
    .select(({ fn }) => ['visitor_id', fn.max('received_until').as('received_until')])
    .where('visitor_id', 'in', visitorIds)
    .groupBy('visitor_id')
    .execute()
  const ends = new Map(earlier.map((move) => [move.visitor_id, move.received_until]))
  const moves = visitorIds.map((visitor_id) => ({
    move_id: newId(),
    visitor_id,
    contact_id: contactId,
    received_after: ends.get(visitor_id) ?? null,
  }))
  await tx.db.insertInto('visitor_moves').values(moves).execute()
}
