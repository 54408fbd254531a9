import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { Company } from '../api/types.ts'
import { FOUND_MAX } from '../ui/find-field.tsx'
import { companyName } from './company-columns.tsx'

/** Finds companies for a search field. */
export function useFoundCompanies(search: string) {
  const query = queryOf('listCompanies', { search: search || undefined, limit: FOUND_MAX })
  const { data, isFetching, error, refetch } = useQuery({ ...query, enabled: search !== '' })
  return { items: data?.companies, isFetching, error, refetch }
}

/** Name and domain: names alone may be ambiguous. */
export function companyChoice(company: Company): string {
  return [company.name, company.domain].filter(Boolean).join(' · ') || companyName(company)
}
