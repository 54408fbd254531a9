import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { Contact } from '../api/types.ts'
import { FOUND_MAX } from '../ui/find-field.tsx'
import { propertyText } from '../ui/property-value.ts'
import { contactName } from './contact-name.ts'

/** Finds contacts for a search field. */
export function useFoundContacts(search: string) {
  const query = queryOf('listContacts', { search: search || undefined, limit: FOUND_MAX })
  const { data, isFetching, error, refetch } = useQuery({ ...query, enabled: search !== '' })
  return { items: data?.contacts, isFetching, error, refetch }
}

/** Name and address: names alone may be ambiguous. */
export function contactChoice(contact: Contact): string {
  return `${contactName(contact)} · ${propertyText(contact.properties.email)}`
}
