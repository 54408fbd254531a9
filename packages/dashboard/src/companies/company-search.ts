import type { ListCompaniesInput, ListContactsInput } from '../api/types.ts'
import { filterParam } from '../filters/filter-text.ts'
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

/** Rows per page. */
export const PEOPLE_A_PAGE = 20

/** The query for one page of the contacts of a company. */
export function peopleOf(companyId: string, page = 1): ListContactsInput {
  return { company_id: companyId, page, limit: PEOPLE_A_PAGE, sort_by: 'lastname', sort_dir: 'asc' }
}
