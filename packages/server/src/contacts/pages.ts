import { ZERO_ID } from '../platform/ids.ts'
import { pagesOf } from '../platform/response-size.ts'
import type { Tenant } from '../platform/tenant.ts'
import { SEGMENT_IDS } from './columns.ts'
import type { ContactRowInSegments } from './contact-object.ts'
import { CONTACT_COLUMNS, type ContactRow } from './contact-row.ts'
import { type ContactFilters, matchingContacts } from './list.ts'
import { contactsAmong } from './matching.ts'
import { ALL_CONTACTS } from './ranges.ts'

const ROWS_PER_PAGE = 1_000

/** All matching contacts in pages, sorted by id. */
export function contactPages(tenant: Tenant, filters: ContactFilters): AsyncGenerator<ContactRowInSegments[]> {
  return pagesOf<ContactRowInSegments>(ROWS_PER_PAGE, (limit, after) =>
    tenant.heavyRead(
      () =>
        matchingContacts(tenant, filters)
          .select(CONTACT_COLUMNS)
          .select(SEGMENT_IDS)
          .where('contacts.contact_id', '>', after?.contact_id ?? ZERO_ID)
          .orderBy('contacts.contact_id')
          .limit(limit)
          .execute(),
      'postgres_export',
    ),
  )
}

/** All contacts with higher ids, in pages, as they are stored when their page is read. */
export function contactsAfter(tenant: Tenant, contactId: string | null): AsyncGenerator<ContactRow[]> {
  return pagesOf<ContactRow>(ROWS_PER_PAGE, (limit, last) => {
    const after = last?.contact_id ?? contactId ?? ZERO_ID
    const query = contactsAmong(tenant, { ...ALL_CONTACTS, after }).select(CONTACT_COLUMNS)
    return tenant.heavyRead(() => query.orderBy('contact_id').limit(limit).execute(), 'postgres_export')
  })
}

/** The ids of the next matching contacts, sorted. */
export async function nextContactIds(
  tenant: Tenant,
  filters: ContactFilters,
  after: string | undefined,
  limit: number,
) {
  const rows = await tenant.heavyRead(() =>
    matchingContacts(tenant, filters)
      .select('contacts.contact_id')
      .where('contacts.contact_id', '>', after ?? ZERO_ID)
      .orderBy('contacts.contact_id')
      .limit(limit)
      .execute(),
  )
  return rows.map((row) => row.contact_id)
}
