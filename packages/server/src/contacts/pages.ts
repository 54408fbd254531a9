import { createPageReader } from '../platform/answer-size.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { ContactRowInSegments } from './contact-object.ts'
import { CONTACT_COLUMNS } from './contact-row.ts'
import { type ContactFilters, matchingContacts } from './list.ts'
import { segmentIds } from './segment-ids.ts'

const ROWS_PER_PAGE = 1_000
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** All matching contacts in batches, sorted by id; memory use does not depend on their number. */
export async function* contactPages(tenant: Tenant, filters: ContactFilters): AsyncGenerator<ContactRowInSegments[]> {
  const next = createPageReader(ROWS_PER_PAGE)
  for (let after = FIRST_ID; ; ) {
    const { rows, isLast } = await next((limit) =>
      tenant.heavily(
        () =>
          matchingContacts(tenant, filters)
            .select(CONTACT_COLUMNS)
            .select(segmentIds)
            .where('contacts.contact_id', '>', after)
            .orderBy('contacts.contact_id')
            .limit(limit)
            .execute(),
        'postgres_export',
      ),
    )
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || isLast) return
    after = last.contact_id
  }
}
