import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Contact as ContactSchema } from '../../../server/src/contacts/contact-object.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, type Query, send } from './client.ts'

export type Contact = Type.Static<typeof ContactSchema>

interface ContactPage {
  contacts: Contact[]
  pagination: Type.Static<typeof Pagination>
}

/** One page of the contacts that match; the filters are those of GET /v1/contacts. */
export const contactsQuery = (filters: Query) =>
  queryOptions({
    queryKey: ['contacts', 'list', filters],
    queryFn: ({ signal }) => get<ContactPage>('/v1/contacts', filters, signal),
    // The page before stays while the next one is on its way.
    placeholderData: keepPreviousData,
  })

export function createContact(contact: { email: string; properties: Record<string, string> }) {
  return send<{ contact: Contact }>('POST', '/v1/contacts', contact)
}
