import { newId } from '../../platform/ids.ts'
import type { Tenant } from '../../platform/tenant.ts'

/** Inserts visitors directly, with the links to their contacts: for sample data. Their events have the contacts as owners. */
export async function loadVisitors(
  tenant: Tenant,
  visitors: readonly { visitorId: string; contactId: string | null }[],
  source: string,
  now: Date,
): Promise<void> {
  const rows = visitors.map(({ visitorId, contactId }) => ({
    visitor_id: visitorId,
    contact_id: contactId,
    created_at: now,
  }))
  await tenant.db.insertInto('visitors').values(rows).execute()
  const links = visitors.flatMap(({ visitorId, contactId }) =>
    contactId === null
      ? []
      : [{ link_id: newId(), visitor_id: visitorId, contact_id: contactId, source, linked_at: now }],
  )
  if (links.length > 0) await tenant.db.insertInto('identity_links').values(links).execute()
}
