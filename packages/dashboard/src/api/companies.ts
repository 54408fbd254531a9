import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Company as CompanySchema } from '../../../server/src/companies/company-object.ts'
import type { PropertyChanges } from '../../../server/src/contacts/properties.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, getWithVersion, type Query, queryString, send } from './client.ts'

export type Company = Type.Static<typeof CompanySchema>

interface CompanyPage {
  companies: Company[]
  pagination: Type.Static<typeof Pagination>
}

export interface CompanyChanges {
  name?: string | null
  domain?: string | null
  properties?: PropertyChanges
}

/** One page of the companies that match; the filters are those of GET /v1/companies. */
export const companiesQuery = (filters: Query) =>
  queryOptions({
    queryKey: ['companies', 'list', filters],
    queryFn: ({ signal }) => get<CompanyPage>('/v1/companies', filters, signal),
    placeholderData: keepPreviousData,
  })

export const companyQuery = (companyId: string) =>
  queryOptions({
    queryKey: ['companies', 'one', companyId],
    queryFn: ({ signal }) =>
      get<{ company: Company }>(`/v1/companies/${encodeURIComponent(companyId)}`, {}, signal).then(
        ({ company }) => company,
      ),
  })

export function createCompany(company: { name?: string; domain?: string }) {
  return send<{ company: Company }>('POST', '/v1/companies', company)
}

const pathOf = (companyId: string) => `/v1/companies/${encodeURIComponent(companyId)}`

/** @param version if given, the change fails with 412 if the company was changed since. */
export function updateCompany(companyId: string, changes: CompanyChanges, version?: string | null) {
  return send<{ company: Company }>('PUT', pathOf(companyId), changes, undefined, version)
}

/** A company with its version. */
export function readCompany(companyId: string) {
  return getWithVersion<{ company: Company }>(pathOf(companyId))
}

export function deleteCompany(companyId: string) {
  return send('DELETE', `/v1/companies/${encodeURIComponent(companyId)}`)
}

export function companiesCsv(filters: Query, columns: readonly string[]): string {
  const { page: _page, limit: _limit, ...rest } = filters
  return `/v1/companies/export.csv${queryString({ ...rest, columns })}`
}

/** Shows a change before the service has responded. @returns a function that undoes it. */
export async function showCompanyChange(queryClient: QueryClient, companyId: string, changes: CompanyChanges) {
  const { queryKey } = companyQuery(companyId)
  await queryClient.cancelQueries({ queryKey })
  const before = queryClient.getQueryData(queryKey)
  if (before) queryClient.setQueryData(queryKey, changedBy(before, changes))
  return () => queryClient.setQueryData(queryKey, before)
}

/** As `showCompanyChange`, in every list. */
export function showInLists(queryClient: QueryClient, companyId: string, changes: CompanyChanges) {
  const lists = { queryKey: ['companies', 'list'] }
  const before = queryClient.getQueriesData<CompanyPage>(lists)
  queryClient.setQueriesData<CompanyPage>(lists, (page) => {
    if (!page?.companies) return page
    const companies = page.companies.map((each) => (each.company_id === companyId ? changedBy(each, changes) : each))
    return { ...page, companies }
  })
  return () => {
    for (const [queryKey, page] of before) queryClient.setQueryData(queryKey, page)
  }
}

function changedBy(company: Company, { properties, ...fields }: CompanyChanges): Company {
  const merged = Object.entries({ ...company.properties, ...properties }).filter(([, value]) => value !== null)
  return { ...company, ...fields, properties: Object.fromEntries(merged) as Company['properties'] }
}

export function refreshCompanies(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['companies'] })
}

/** Removes a deleted company from the cache without refetching it. */
export function forgetCompany(queryClient: QueryClient, companyId: string): Promise<unknown> {
  queryClient.removeQueries({ queryKey: companyQuery(companyId).queryKey })
  return queryClient.invalidateQueries({ queryKey: ['companies', 'list'] })
}

/** Rows per page. */
export const PEOPLE_A_PAGE = 20

/** One page of the contacts of a company. */
export function peopleOf(companyId: string, page = 1): Query {
  return { company_id: companyId, page, limit: PEOPLE_A_PAGE, sort_by: 'lastname', sort_dir: 'asc' }
}
