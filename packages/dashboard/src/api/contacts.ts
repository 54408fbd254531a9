import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  Contact,
  CreateContactInput,
  ErasureReceipt,
  ListContactsInput,
  Pagination,
  UnifiedProfile,
} from '../../../client/src/generated/types.gen.ts'
import type { PropertyChanges } from '../../../server/src/contacts/properties.ts'
import { call, readWithVersion, urlOf } from './client.ts'

export type { Contact, ListContactsInput, PropertyChanges, UnifiedProfile }
export type Receipt = ErasureReceipt

/** The response unless some fields or only a count are asked for. */
interface ContactPage {
  contacts: Contact[]
  pagination: Pagination
}

/** The changes of a contact. */
export interface ContactChanges {
  properties?: PropertyChanges
  company_id?: string | null
}

/** One page of the contacts that match; the filters are those of GET /v1/contacts. */
export const contactsQuery = (filters: ListContactsInput) =>
  queryOptions({
    queryKey: ['contacts', 'list', filters],
    queryFn: ({ signal }) => call('listContacts', filters, signal) as Promise<ContactPage>,
    // The previous page stays visible while the next one loads.
    placeholderData: keepPreviousData,
  })

/** A contact with the values from its sources. */
export const contactQuery = (contact_id: string) =>
  queryOptions({
    queryKey: ['contacts', 'one', contact_id],
    queryFn: ({ signal }) => call('getContact', { contact_id, include_events: false, include: 'provenance' }, signal),
  })

export function createContact(contact: CreateContactInput) {
  return call('createContact', contact)
}

/** @param version if given, the change fails with 412 if the contact was changed since. */
export function updateContact(contact_id: string, changes: ContactChanges, version?: string | null) {
  return call('updateContact', { contact_id, ...changes }, undefined, version)
}

/** A contact with its version. */
export function readContact(contact_id: string) {
  return readWithVersion('getContact', { contact_id, include_events: false })
}

/** Merges a contact into another, which survives. */
export function mergeContact(contact_id: string, into: string) {
  return call('mergeContact', { contact_id, into })
}

export function deleteContact(contact_id: string) {
  return call('deleteContact', { contact_id })
}

/** Removes all data about a contact. This cannot be undone. The service continues long work in the background. */
export function eraseContact(contact_id: string) {
  return call('eraseContact', { contact_id })
}

/** The receipt of an erasure, polled until everything is removed. */
export const erasureQuery = (erasure_id: string) =>
  queryOptions({
    queryKey: ['erasures', erasure_id],
    queryFn: ({ signal }) => call('getErasure', { erasure_id }, signal).then(({ receipt }) => receipt),
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'running' ? false : 1_000),
  })

/** The URL of the matching contacts as CSV. */
export function contactsCsv(filters: ListContactsInput, columns: readonly string[]): string {
  const { page: _page, limit: _limit, ...rest } = filters
  return urlOf('exportContacts', { ...rest, columns: columns.join(',') })
}

/** Shows a change before the service has responded. @returns a function that undoes it. */
export async function showContactChange(queryClient: QueryClient, contactId: string, { properties }: ContactChanges) {
  const { queryKey } = contactQuery(contactId)
  await queryClient.cancelQueries({ queryKey })
  const before = queryClient.getQueryData(queryKey)
  if (before && properties) {
    const merged = Object.entries({ ...before.contact.properties, ...properties }).filter(([, value]) => value !== null)
    const contact = { ...before.contact, properties: Object.fromEntries(merged) as Contact['properties'] }
    queryClient.setQueryData(queryKey, { ...before, contact })
  }
  return () => queryClient.setQueryData(queryKey, before)
}

/** Shows a changed property in every list, before the service has responded. @returns a function that undoes it. */
export function showInLists(queryClient: QueryClient, contactId: string, properties: PropertyChanges) {
  const lists = { queryKey: ['contacts', 'list'] }
  const before = queryClient.getQueriesData<ContactPage>(lists)
  queryClient.setQueriesData<ContactPage>(lists, (page) => {
    if (!page?.contacts) return page
    const contacts = page.contacts.map((contact) => {
      if (contact.contact_id !== contactId) return contact
      const merged = Object.entries({ ...contact.properties, ...properties }).filter(([, value]) => value !== null)
      return { ...contact, properties: Object.fromEntries(merged) as Contact['properties'] }
    })
    return { ...page, contacts }
  })
  return () => {
    for (const [queryKey, page] of before) queryClient.setQueryData(queryKey, page)
  }
}

/** Refetches everything that shows contacts. */
export function refreshContacts(queryClient: QueryClient): Promise<unknown> {
  return Promise.all([
    queryClient.invalidateQueries({ queryKey: ['contacts'] }),
    queryClient.invalidateQueries({ queryKey: ['events', 'timeline'] }),
    queryClient.invalidateQueries({ queryKey: ['properties', 'contacts'] }),
  ])
}

/** Removes a deleted contact from the cache without refetching it. */
export function forgetContact(queryClient: QueryClient, contactId: string): Promise<unknown> {
  queryClient.removeQueries({ queryKey: contactQuery(contactId).queryKey })
  return queryClient.invalidateQueries({ queryKey: ['contacts', 'list'] })
}
