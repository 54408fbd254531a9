import { useQuery } from '@tanstack/react-query'
import type { Company } from '../api/companies.ts'
import { propertiesQuery } from '../api/properties.ts'
import type { Column } from '../ui/data-table.tsx'
import { COMPANY_COLUMNS, propertyColumn } from './company-columns.tsx'

/** All columns of companies: the standard ones, and one for each other property of the tenant's companies. */
export function useCompanyColumns(): Column<Company>[] {
  const { data } = useQuery(propertiesQuery('companies'))
  const usual = new Set([...COMPANY_COLUMNS.map(({ id }) => id), 'updated_at'])
  const others = (data?.properties ?? []).filter(({ name }) => !usual.has(name))
  return [...COMPANY_COLUMNS, ...others.map(({ name, label }) => propertyColumn(name, label))]
}
