import { propertiesOf } from '../../contacts/contact-row.ts'
import { pagesOf } from '../../platform/answer-size.ts'
import type { Tenant } from '../../platform/tenant.ts'

const ROWS_PER_PAGE = 500

/** A row with a field for each of its table's columns. Times are milliseconds since 1970. */
interface RecordRow {
  id: string
  row: Record<string, string | number | null>
}

/** All contacts with higher ids, page by page, in their state when the page is read. */
export function contactRows(tenant: Tenant, afterId: string | null): AsyncGenerator<RecordRow[]> {
  return pagesOf<RecordRow>(ROWS_PER_PAGE, async (limit, last) => {
    let query = tenant.db
      .selectFrom('contacts')
      .select(['contact_id', 'email', 'external_id', 'company_id', 'creation_source', 'properties'])
      .select(['first_seen_at', 'created_at', 'updated_at'])
    const after = last?.id ?? afterId
    if (after !== null) query = query.where('contact_id', '>', after)
    const read = () => query.orderBy('contact_id').limit(limit).execute()
    const rows = await tenant.heavyRead(read, 'postgres_export')
    return rows.map((row) => ({
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
  })
}

/** All companies with higher ids, page by page. */
export function companyRows(tenant: Tenant, afterId: string | null): AsyncGenerator<RecordRow[]> {
  return pagesOf<RecordRow>(ROWS_PER_PAGE, async (limit, last) => {
    let query = tenant.db
      .selectFrom('companies')
      .select(['company_id', 'name', 'domain', 'external_id', 'properties', 'created_at', 'updated_at'])
    const after = last?.id ?? afterId
    if (after !== null) query = query.where('company_id', '>', after)
    const read = () => query.orderBy('company_id').limit(limit).execute()
    const rows = await tenant.heavyRead(read, 'postgres_export')
    return rows.map((row) => ({
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
  })
}
