import { useQuery } from '@tanstack/react-query'
import { type Company, companiesQuery } from '../api/companies.ts'
import { FOUND_MAX } from '../ui/find-field.tsx'
import { companyName } from './company-columns.tsx'

/** Finds companies for a search field. */
export function useFoundCompanies(search: string) {
  const query = companiesQuery({ search: search || undefined, limit: FOUND_MAX })
  const { data, isFetching, error, refetch } = useQuery({ ...query, enabled: search !== '' })
  return { items: data?.companies, isFetching, error, refetch }
}

/** Name and domain: names alone may be ambiguous. */
export function companyChoice(company: Company): string {
  return [company.name, company.domain].filter(Boolean).join(' · ') || companyName(company)
}
