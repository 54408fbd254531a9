import { sql } from 'kysely'
import { toCompanyObject } from '../companies/company-object.ts'
import { findCompanies } from '../companies/list.ts'
import { findSegmentMembers } from '../contacts/matching.ts'
import { companiesOf } from '../memberships/company-memberships.ts'
import { membersOf } from '../memberships/memberships.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import type { Tenant } from '../platform/tenant.ts'

const IDS_AT_ONCE = 1_000

/** One page of the contacts in a segment, sorted by id, which is usually the order of creation. */
export async function listMembers(tenant: Tenant, segmentId: string, page: Page) {
  // The page is selected from the index of members first, so only its contacts are read.
  const ids = await membersOf(tenant, segmentId)
    .orderBy('contact_id', 'desc')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  return findSegmentMembers(
    tenant,
    ids.map((row) => row.contact_id),
  )
}

/** One page of the companies in a segment, in the same order. */
export async function listCompaniesIn(tenant: Tenant, segmentId: string, page: Page) {
  const ids = await companiesOf(tenant, segmentId)
    .orderBy('company_id', 'desc')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  const rows = await findCompanies(
    tenant,
    ids.map((row) => row.company_id),
  )
  const byId = new Map(rows.map((row) => [row.company_id, toCompanyObject(row)]))
  return ids.flatMap(({ company_id }) => byId.get(company_id) ?? [])
}

/** The ids of all members, the newest first. */
export async function* allMembers(tenant: Tenant, segmentId: string): AsyncGenerator<string[]> {
  for (let before: string | undefined; ; ) {
    const members = membersOf(tenant, segmentId)
    const next = before === undefined ? members : members.where('contact_id', '<', before)
    const rows = await next.orderBy('contact_id', 'desc').limit(IDS_AT_ONCE).execute()
    yield rows.map((row) => row.contact_id)
    if (rows.length < IDS_AT_ONCE) return
    before = rows.at(-1)?.contact_id
  }
}

/** Those of some contacts that are members. */
export async function membersAmong(tenant: Tenant, segmentId: string, contactIds: readonly string[]) {
  const among = sql<string>`any(${contactIds}::uuid[])`
  const rows = await membersOf(tenant, segmentId).where('contact_id', '=', among).execute()
  return new Set(rows.map((row) => row.contact_id))
}
