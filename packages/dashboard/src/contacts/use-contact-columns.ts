import { useQuery } from '@tanstack/react-query'
import type { Contact } from '../api/contacts.ts'
import { propertiesQuery } from '../api/properties.ts'
import type { Column } from '../ui/data-table.tsx'
import { CONTACT_COLUMNS, propertyColumn } from './contact-columns.tsx'

/** All columns of contacts: the standard ones, and one for each other property of the tenant's contacts. */
export function useContactColumns(): Column<Contact>[] {
  const { data } = useQuery(propertiesQuery('contacts'))
  const usual = new Set([...CONTACT_COLUMNS.map(({ id }) => id), ...IN_OTHERS])
  const others = (data?.properties ?? []).filter(({ name }) => !usual.has(name))
  return [...CONTACT_COLUMNS, ...others.map(({ name, label }) => propertyColumn(name, label))]
}

/** Properties that the standard columns show under another name. */
const IN_OTHERS = ['firstname', 'lastname', 'company_id', 'updated_at']
