import { type Selectable, sql } from 'kysely'
import { newId } from '../../platform/ids.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Move } from '../../platform/postgres/table-rules.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { countVisitors } from '../writing/visitor-rows.ts'
import { tooManyVisitors, visitorsLeft } from '../writing/visitors.ts'

/**
 * Moves visitors of a contact to another, with their future events. Lock both contacts first.
 * @param only the visitors to move; undefined: all.
 * @returns the moved visitors.
 * @throws ServiceError 409 `too_many_visitors`.
 */
export async function moveVisitors(
  tx: Tenant,
  { from, to, source, now }: Pick<Move, 'from' | 'to' | 'source' | 'now'>,
  only?: readonly string[],
): Promise<string[]> {
  let moving = tx.db.selectFrom('visitors').select(['visitor_id', 'contact_id']).where('contact_id', '=', from)
  if (only) moving = moving.where('visitor_id', '=', sql<string>`any(${[...only]}::text[])`)
  const visitors = await moving.orderBy('visitor_id').forUpdate().execute()
  if (visitors.length === 0) return []
  const [counts = { current: 0, past: 0 }] = await countVisitors(tx, [to])
  if (visitors.length > visitorsLeft(counts, source)) throw tooManyVisitors(source)
  await assignVisitors(tx, visitors, to, source, now)
  return visitors.map(({ visitor_id }) => visitor_id)
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
  // In a fixed order: the update returns them in any.
  const ids = visitors.map(({ visitor_id }) => visitor_id).sort()
  const links = ids.map((visitor_id) => ({ visitor_id, contact_id: contactId }))
  await tx.db
    .insertInto('visitor_links')
    .values(toLog(links, null, source, now))
    .execute()
}

type Link = Pick<Selectable<TenantTables['visitors']>, 'visitor_id' | 'contact_id'>

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
