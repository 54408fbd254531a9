import { companyPages } from '../../companies/pages.ts'
import { propertiesOf } from '../../contacts/contact-row.ts'
import { contactsAfter } from '../../contacts/pages.ts'
import type { Tenant } from '../../platform/tenant.ts'

/** A row with a field for each of its table's columns. Times are milliseconds since 1970. */
interface RecordRow {
  id: string
  row: Record<string, string | number | null>
}

/** All contacts with higher ids, page by page, in their state when the page is read. */
export async function* contactRows(tenant: Tenant, afterId: string | null): AsyncGenerator<RecordRow[]> {
  for await (const rows of contactsAfter(tenant, afterId)) {
    yield rows.map((row) => ({
      id: row.contact_id,
      row: {
        contact_id: row.contact_id,
        email: row.email,
        external_id: row.external_id,
        company_id: row.company_id,
        creation_source: row.creation_source,
        first_seen_at: row.first_seen_at.getTime(),
        created_at: row.created_at.getTime(),
        updated_at: row.updated_at.getTime(),
        properties: JSON.stringify(propertiesOf(row)),
      },
    }))
  }
}

/** All companies with higher ids, page by page. */
export async function* companyRows(tenant: Tenant, afterId: string | null): AsyncGenerator<RecordRow[]> {
  for await (const rows of companyPages(tenant, {}, afterId)) {
    yield rows.map((row) => ({
      id: row.company_id,
      row: {
        company_id: row.company_id,
        name: row.name,
        domain: row.domain,
        external_id: row.external_id,
        created_at: row.created_at.getTime(),
        updated_at: row.updated_at.getTime(),
        properties: JSON.stringify(row.properties),
      },
    }))
  }
}
