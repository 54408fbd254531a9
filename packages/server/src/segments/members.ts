import { findSegmentMembers } from '../contacts/matching.ts'
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
  return findSegmentMembers(
    tenant,
    ids.map((row) => row.contact_id),
  )
}
