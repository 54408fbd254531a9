import { toSegmentMember } from '../contacts/contact-object.ts'
import { CONTACT_COLUMNS } from '../contacts/contact-row.ts'
import { segmentIds } from '../contacts/segment-ids.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import type { Tenant } from '../platform/tenant.ts'

/** One page of the contacts in a segment, sorted by id, which is usually the order of creation. */
export async function listMembers(tenant: Tenant, segmentId: string, page: Page) {
  // The page is selected from the index of members first, so only its contacts are read.
  const ids = await tenant.db
    .selectFrom('segment_members')
    .select('contact_id')
    .where('segment_id', '=', segmentId)
    .orderBy('contact_id', 'desc')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  if (ids.length === 0) return []
  const rows = await tenant.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .select(segmentIds)
    .where(
      'contact_id',
      'in',
      ids.map((row) => row.contact_id),
    )
    .orderBy('contact_id', 'desc')
    .execute()
  return rows.map(toSegmentMember)
}
