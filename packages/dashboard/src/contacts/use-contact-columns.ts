import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { readWithVersion } from '../api/client.ts'
import { queryOf } from '../api/operation.ts'
import type { Property } from '../api/types.ts'
import { allSegmentsQuery } from '../filters/all-segments.ts'
import { CONTACT_COLUMNS, engagementColumns, type ListedContact, propertyColumn } from '../records/contact-columns.tsx'
import { beginSaving } from '../records/save-cell.ts'
import { useMay } from '../session/may.ts'
import type { CellEdit, Column } from '../ui/data-table-column.ts'
import { choicesOf } from '../ui/property-value.ts'

/**
 * All columns of contacts: the standard ones, and one for each other property of the workspace's contacts. A property
 * that people set is edited in its cell.
 */
export function useContactColumns(): Column<ListedContact>[] {
  const { data } = useQuery(queryOf('listProperties', { entity: 'contacts' }))
  const { data: segments } = useQuery(allSegmentsQuery)
  const queryClient = useQueryClient()
  const mayWrite = useMay('contacts:write')
  // The same columns as before, so that the rows need not be rendered again.
  return useMemo(() => {
    const properties = data?.properties ?? []
    const editable = new Map(
      properties.flatMap((each) => (mayWrite && each.is_editable ? [[each.name, each] as const] : [])),
    )
    const usual = new Set([...CONTACT_COLUMNS.map(({ id }) => id), ...IN_OTHERS])
    const others = properties.filter(({ name }) => !usual.has(name))
    const all: Column<ListedContact>[] = [
      // Columns that do not fit are scrolled to.
      ...CONTACT_COLUMNS.map(({ visibleFrom: _hidden, ...column }) => column),
      ...engagementColumns(segments),
      ...others.map(({ name, label }) => propertyColumn(name, { header: label })),
    ]
    return all.map((column) => {
      const property = editable.get(column.id)
      return property ? { ...column, edit: editOf(property) } : column
    })

    function editOf({ name: key, choices }: Property): CellEdit<ListedContact> {
      const valueIn = ({ properties: { [key]: value } }: ListedContact) => value
      return {
        valueIn,
        ...(choices ? { choices: choicesOf(key, choices) } : {}),
        isRequired: key === 'email',
        begin: (contact) =>
          beginSaving(queryClient, {
            entity: 'contacts',
            id: contact.contact_id,
            shown: valueIn(contact),
            read: async () => {
              const { contact_id } = contact
              const { result, version } = await readWithVersion('getContact', { contact_id, include_events: false })
              return { value: valueIn(result.contact), version }
            },
            changesOf: (value) => ({ properties: { [key]: value } }),
          }),
      }
    }
  }, [data, segments, mayWrite, queryClient])
}

/** Properties that the standard columns show under another name. */
const IN_OTHERS = ['company_id', 'updated_at']
