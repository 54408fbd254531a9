import { ZERO_ID } from '../platform/ids.ts'
import { pagesOf } from '../platform/response-size.ts'
import type { Tenant } from '../platform/tenant.ts'
import { COMPANY_COLUMNS, type CompanyRow } from './company-object.ts'
import { type CompanyFilters, matchingCompanies } from './list.ts'

const ROWS_PER_PAGE = 1_000

/** All matching companies in pages, sorted by id. @param companyId only those with higher ids. */
export function companyPages(
  tenant: Tenant,
  filters: CompanyFilters,
  companyId: string | null = null,
): AsyncGenerator<CompanyRow[]> {
  return pagesOf<CompanyRow>(ROWS_PER_PAGE, (limit, after) =>
    tenant.heavyRead(
      () =>
        matchingCompanies(tenant, filters)
          .select(COMPANY_COLUMNS)
          .where('companies.company_id', '>', after?.company_id ?? companyId ?? ZERO_ID)
          .orderBy('companies.company_id')
          .limit(limit)
          .execute(),
      'postgres_export',
    ),
  )
}

/** The ids of the next matching companies, sorted. */
export async function nextCompanyIds(
  tenant: Tenant,
  filters: CompanyFilters,
  after: string | undefined,
  limit: number,
) {
  const rows = await tenant.heavyRead(() =>
    matchingCompanies(tenant, filters)
      .select('companies.company_id')
      .where('companies.company_id', '>', after ?? ZERO_ID)
      .orderBy('companies.company_id')
      .limit(limit)
      .execute(),
  )
  return rows.map((row) => row.company_id)
}
