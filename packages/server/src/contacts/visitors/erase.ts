import { sql } from 'kysely'
import type { ErasureSubject } from '../../platform/postgres/table-rules.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { mentionHint, mentionPattern } from '../erasure-subject.ts'

/** The visitors that belong to a contact. */
export async function visitorsOf(tx: Tenant, contactId: string): Promise<string[]> {
  const rows = await tx.db.selectFrom('visitors').select('visitor_id').where('contact_id', '=', contactId).execute()
  return rows.map(({ visitor_id }) => visitor_id)
}

/**
 * Erases the link between visitors and the contact. The visitors remain as anonymous: without their rows, a collector
 * that caches them as the contact's would not notice the change.
 */
export async function eraseFromVisitors(tx: Tenant, { contactId, email, visitorIds }: ErasureSubject) {
  const links = await tx.db
    .deleteFrom('visitor_links')
    .where((eb) =>
      eb.or([
        eb('contact_id', '=', contactId),
        eb('previous_contact_id', '=', contactId),
        sql<boolean>`visitor_links.visitor_id = ANY(${visitorIds}::text[])`,
      ]),
    )
    .executeTakeFirst()
  const visitors = await tx.db
    .updateTable('visitors')
    .set({ external_contact_id: null })
    .where(sql<boolean>`visitors.visitor_id = ANY(${visitorIds}::text[]) AND contact_id IS NULL`)
    .where('external_contact_id', 'is not', null)
    .executeTakeFirst()
  return {
    visitor_links: Number(links.numDeletedRows),
    visitors: Number(visitors.numUpdatedRows),
    mentions_in_first_pages: email === null ? 0 : await eraseFirstPages(tx, email),
  }
}

/** First pages of other visitors that mention the address; the events they come from are deleted too. */
async function eraseFirstPages(tx: Tenant, email: string): Promise<number> {
  const page = sql`concat(first_url, E'\\n', first_referrer)`
  const { numUpdatedRows } = await tx.db
    .updateTable('visitors')
    .set({ first_page_at: null, first_url: null, first_referrer: null })
    .where(
      sql<boolean>`strpos(lower(${page}), lower(${mentionHint(email)})) > 0 AND ${page} ~* ${mentionPattern(email)}`,
    )
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
