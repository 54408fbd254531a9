import { queryOf } from '../api/operation.ts'
import type { ListContactsInput } from '../api/types.ts'
import { filterParam } from '../filters/filter-text.ts'
import { flag, given, oneOf, pageNumber, searchParams, text, words } from '../session/search-params.ts'

/** The search parameters of the list of contacts. */
export const contactSearch = searchParams({
  page: pageNumber,
  limit: oneOf('20', '50', '100'),
  search: text,
  sort_by: oneOf('email', 'firstname', 'lastname', 'company', 'createdate'),
  sort_dir: oneOf('asc', 'desc'),
  columns: words,
  segment_id: text,
  import_id: text,
  filter: filterParam,
  // Whether the form for a new contact is open.
  dialog: flag,
})

export type ContactSearch = ReturnType<typeof contactSearch>

/** The query to the service for a URL. */
export function toContactQuery({ columns: _shown, dialog: _open, ...search }: ContactSearch): ListContactsInput {
  return { ...given(search), page: search.page ?? 1, limit: Number(search.limit ?? 20) }
}

/** The contact of a page, with the values from its sources. */
export function contactQuery(contact_id: string) {
  return queryOf('getContact', { contact_id, include_events: false, include: 'provenance' })
}
