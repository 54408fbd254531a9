import type { ListCompaniesInput } from '../api/companies.ts'
import { filterParam } from '../records/filter-param.ts'
import { given, oneOf, pageNumber, searchParams, text, words } from '../session/search-params.ts'

/** The search parameters of the list of companies. */
export const companySearch = searchParams({
  page: pageNumber,
  limit: oneOf('20', '50', '100'),
  search: text,
  sort_by: oneOf('name', 'createdate'),
  sort_dir: oneOf('asc', 'desc'),
  columns: words,
  filter: filterParam,
})

export type CompanySearch = ReturnType<typeof companySearch>

/** The query to the service for a URL. */
export function toCompanyQuery({ columns: _shown, ...search }: CompanySearch): ListCompaniesInput {
  return { ...given(search), page: search.page ?? 1, limit: Number(search.limit ?? 20) }
}
