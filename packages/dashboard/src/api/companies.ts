import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  Company,
  CreateCompanyInput,
  ListCompaniesInput,
  ListContactsInput,
  Pagination,
} from '../../../client/src/generated/types.gen.ts'
import type { PropertyChanges } from '../../../server/src/contacts/properties.ts'
import { call, readWithVersion, urlOf } from './client.ts'

export type { Company, ListCompaniesInput }

/** The response unless only a count is asked for. */
interface CompanyPage {
  companies: Company[]
  pagination: Pagination
}

export interface CompanyChanges {
  name?: string | null
  domain?: string | null
  properties?: PropertyChanges
}

/** One page of the companies that match; the filters are those of GET /v1/companies. */
export const companiesQuery = (filters: ListCompaniesInput) =>
  queryOptions({
    queryKey: ['companies', 'list', filters],
    queryFn: ({ signal }) => call('listCompanies', filters, signal) as Promise<CompanyPage>,
    placeholderData: keepPreviousData,
  })

export const companyQuery = (company_id: string) =>
  queryOptions({
    queryKey: ['companies', 'one', company_id],
    queryFn: ({ signal }) => call('getCompany', { company_id }, signal).then(({ company }) => company),
  })

export function createCompany(company: CreateCompanyInput) {
  return call('createCompany', company)
}

/** @param version if given, the change fails with 412 if the company was changed since. */
export function updateCompany(company_id: string, changes: CompanyChanges, version?: string | null) {
  return call('updateCompany', { company_id, ...changes }, undefined, version)
}

/** A company with its version. */
export function readCompany(company_id: string) {
  return readWithVersion('getCompany', { company_id })
}

export function deleteCompany(company_id: string) {
  return call('deleteCompany', { company_id })
}

export function companiesCsv(filters: ListCompaniesInput, columns: readonly string[]): string {
  const { page: _page, limit: _limit, ...rest } = filters
  return urlOf('exportCompanies', { ...rest, columns: columns.join(',') })
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
export function peopleOf(companyId: string, page = 1): ListContactsInput {
  return { company_id: companyId, page, limit: PEOPLE_A_PAGE, sort_by: 'lastname', sort_dir: 'asc' }
}
