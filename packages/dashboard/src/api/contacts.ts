import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Contact as ContactSchema } from '../../../server/src/contacts/contact-object.ts'
import type { PropertyChanges } from '../../../server/src/contacts/properties.ts'
import type { UnifiedProfile as ProfileSchema } from '../../../server/src/contacts/unified-profile.ts'
import type { Receipt } from '../../../server/src/erasure/erasures.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, getWithVersion, type Query, queryString, send } from './client.ts'

export type Contact = Type.Static<typeof ContactSchema>
export type UnifiedProfile = Type.Static<typeof ProfileSchema>
export type { PropertyChanges, Receipt }

/** A contact with the values from its sources. */
export interface ContactDetails {
  contact: Contact & { _summary: string }
  unified_profile: UnifiedProfile
}

interface ContactPage {
  contacts: Contact[]
  pagination: Type.Static<typeof Pagination>
}

/** The changes of a contact. */
export interface ContactChanges {
  properties?: PropertyChanges
  company_id?: string | null
}

/** One page of the contacts that match; the filters are those of GET /v1/contacts. */
export const contactsQuery = (filters: Query) =>
  queryOptions({
    queryKey: ['contacts', 'list', filters],
    queryFn: ({ signal }) => get<ContactPage>('/v1/contacts', filters, signal),
    // The previous page stays visible while the next one loads.
    placeholderData: keepPreviousData,
  })

export const contactQuery = (contactId: string) =>
  queryOptions({
    queryKey: ['contacts', 'one', contactId],
    queryFn: ({ signal }) =>
      get<ContactDetails>(
        `/v1/contacts/${encodeURIComponent(contactId)}`,
        { include_events: false, include: 'provenance' },
        signal,
      ),
  })

export function createContact(contact: { email: string; properties: Record<string, string> }) {
  return send<{ contact: Contact }>('POST', '/v1/contacts', contact)
}

const pathOf = (contactId: string) => `/v1/contacts/${encodeURIComponent(contactId)}`

/** @param version if given, the change fails with 412 if the contact was changed since. */
export function updateContact(contactId: string, changes: ContactChanges, version?: string | null) {
  return send<{ contact: Contact }>('PUT', pathOf(contactId), changes, undefined, version)
}

/** A contact with its version. */
export function readContact(contactId: string) {
  return getWithVersion<{ contact: Contact }>(pathOf(contactId), { include_events: false })
}

/** Merges a contact into another, which survives. */
export function mergeContact(contactId: string, into: string) {
  return send<{ contact: Contact }>('POST', `${pathOf(contactId)}/merge`, { into })
}

/** Undoes a merge. */
export function unmergeContact(contactId: string) {
  return send<{ contact: Contact }>('POST', `${pathOf(contactId)}/unmerge`)
}

export function deleteContact(contactId: string) {
  return send('DELETE', `/v1/contacts/${encodeURIComponent(contactId)}`)
}

/** Removes all data about a contact. This cannot be undone. The service continues long work in the background. */
export function eraseContact(contactId: string) {
  return send<{ receipt: Receipt }>('POST', '/v1/erasures', { contact_id: contactId })
}

/** The receipt of an erasure, polled until everything is removed. */
export const erasureQuery = (erasureId: string) =>
  queryOptions({
    queryKey: ['erasures', erasureId],
    queryFn: ({ signal }) =>
      get<{ receipt: Receipt }>(`/v1/erasures/${encodeURIComponent(erasureId)}`, {}, signal).then(
        ({ receipt }) => receipt,
      ),
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'running' ? false : 1_000),
  })

/** The URL of the matching contacts as CSV. */
export function contactsCsv(filters: Query, columns: readonly string[]): string {
  const { page: _page, limit: _limit, ...rest } = filters
  return `/v1/contacts/export.csv${queryString({ ...rest, columns })}`
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
