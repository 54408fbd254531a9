import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { readWithVersion } from '../api/client.ts'
import { queryOf } from '../api/operation.ts'
import type { RecordChanges } from '../api/optimistic.ts'
import type { Company } from '../api/types.ts'
import { COMPANY_COLUMNS, propertyColumn } from '../records/company-columns.tsx'
import { beginSaving } from '../records/save-cell.ts'
import { useMay } from '../session/may.ts'
import type { CellEdit, Column } from '../ui/data-table-column.ts'
import type { PropertyValue } from '../ui/property-value.ts'

/**
 * All columns of companies: the standard ones, and one for each other property of the workspace's companies. A property
 * that people set is edited in its cell, and so is the domain; the name is the link.
 */
export function useCompanyColumns(): Column<Company>[] {
  const { data } = useQuery(queryOf('listProperties', { entity: 'companies' }))
  const queryClient = useQueryClient()
  const mayWrite = useMay('companies:write')
  // The same columns as before, so that the rows need not be rendered again.
  return useMemo(() => {
    const properties = data?.properties ?? []
    const editable = new Set(mayWrite ? properties.flatMap((each) => (each.is_editable ? [each.name] : [])) : [])
    const usual = new Set([...COMPANY_COLUMNS.map(({ id }) => id), 'contact_count', 'updated_at'])
    const others = properties.filter(({ name }) => !usual.has(name))
    const all = [...COMPANY_COLUMNS, ...others.map(({ name, label }) => propertyColumn(name, { header: label }))]
    return all.map((column) =>
      editable.has(column.id) && column.id !== 'name' ? { ...column, edit: editOf(column.id) } : column,
    )

    function editOf(key: string): CellEdit<Company> {
      const valueIn = (company: Company) => (key === 'domain' ? (company.domain ?? undefined) : company.properties[key])
      return {
        valueIn,
        begin: (company) =>
          beginSaving(queryClient, {
            entity: 'companies',
            id: company.company_id,
            shown: valueIn(company),
            read: async () => {
              const { result, version } = await readWithVersion('getCompany', { company_id: company.company_id })
              return { value: valueIn(result.company), version }
            },
            changesOf: (value) => changesOf(key, value),
          }),
      }
    }
  }, [data, mayWrite, queryClient])
}

function changesOf(key: string, value: PropertyValue | null): RecordChanges {
  if (key !== 'domain') return { properties: { [key]: value } }
  return { domain: value === null ? null : String(value) }
}
