import type { Query } from '../api/client.ts'
import { day, given, oneOf, pageNumber, searchParams, text, wholeNumber, words } from '../app/search-params.ts'
import type { FilterField } from '../ui/filter-form.tsx'

/** The service's filters of companies, with labels. */
export const COMPANY_FILTERS: FilterField[] = [
  { name: 'name', label: 'Name', kind: 'text' },
  { name: 'domain', label: 'Domain', kind: 'text' },
  { name: 'industry', label: 'Industry', kind: 'text' },
  { name: 'country', label: 'Country', kind: 'text' },
  { name: 'state', label: 'State', kind: 'text' },
  { name: 'min_employees', label: 'Minimum employees', kind: 'number' },
  { name: 'max_employees', label: 'Maximum employees', kind: 'number' },
  { name: 'created_after', label: 'Created from', kind: 'date' },
  { name: 'created_before', label: 'Created until', kind: 'date' },
]

/** The search parameters of the list of companies. */
export const companySearch = searchParams({
  page: pageNumber,
  limit: oneOf('20', '50', '100'),
  search: text,
  sort_by: oneOf('name', 'createdate'),
  sort_dir: oneOf('asc', 'desc'),
  columns: words,
  name: text,
  domain: text,
  industry: text,
  country: text,
  state: text,
  min_employees: wholeNumber,
  max_employees: wholeNumber,
  created_after: day,
  created_before: day,
})

export type CompanySearch = ReturnType<typeof companySearch>

/** The query to the service for an address. */
export function toCompanyQuery({ columns: _shown, ...search }: CompanySearch): Query {
  return { ...given(search), page: search.page ?? 1, limit: search.limit ?? '20' }
}
