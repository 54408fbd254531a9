import { toSegmentMember } from '../contacts/contact-object.ts'
import { CONTACT_COLUMNS } from '../contacts/contact-row.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import type { Tenant } from '../platform/tenant.ts'
import { segmentIds } from './member-ids.ts'

/** One page of the contacts in a segment, in the order of their ids, which for most is the order of their creation. */
export async function listMembers(tenant: Tenant, segmentId: string, page: Page) {
  // The page is cut out of the index of members first: only its contacts are read.
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
