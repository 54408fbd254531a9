import type { Query } from '../api/client.ts'
import { day, given, oneOf, pageNumber, searchParams, text, wholeNumber, words } from '../app/search-params.ts'
import type { FilterField } from '../ui/filter-form.tsx'

/** The filters of companies that the service knows, in the words of people. */
export const COMPANY_FILTERS: FilterField[] = [
  { name: 'name', label: 'Name', kind: 'text' },
  { name: 'domain', label: 'Domain', kind: 'text' },
  { name: 'industry', label: 'Industry', kind: 'text' },
  { name: 'country', label: 'Country', kind: 'text' },
  { name: 'state', label: 'State', kind: 'text' },
  { name: 'min_employees', label: 'Employees at least', kind: 'number' },
  { name: 'max_employees', label: 'Employees at most', kind: 'number' },
  { name: 'created_after', label: 'Created from', kind: 'date' },
  { name: 'created_before', label: 'Created until', kind: 'date' },
]

/** What the address of the companies' list holds. */
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

/** What to ask the service for an address. */
export function toCompanyQuery({ columns: _shown, ...search }: CompanySearch): Query {
  return { ...given(search), page: search.page ?? 1, limit: search.limit ?? '20' }
}
