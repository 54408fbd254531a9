import { createPageReader } from '../platform/answer-size.ts'
import type { Tenant } from '../platform/tenant.ts'
import { COMPANY_COLUMNS, type CompanyRow } from './company-object.ts'
import { type CompanyFilters, matchingCompanies } from './list.ts'

const ROWS_PER_PAGE = 1_000
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** All matching companies in batches, sorted by id. */
export async function* companyPages(tenant: Tenant, filters: CompanyFilters): AsyncGenerator<CompanyRow[]> {
  const next = createPageReader(ROWS_PER_PAGE)
  for (let after = FIRST_ID; ; ) {
    const { rows, isLast } = await next((limit) =>
      tenant.heavily(
        () =>
          matchingCompanies(tenant, filters)
            .select(COMPANY_COLUMNS)
            .where('companies.company_id', '>', after)
            .orderBy('companies.company_id')
            .limit(limit)
            .execute(),
        'postgres_export',
      ),
    )
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || isLast) return
    after = last.company_id
  }
}
