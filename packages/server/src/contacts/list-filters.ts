import type Type from 'typebox'
import { conditionsOf } from '../events/conditions.ts'
import type { EventFilters } from '../events/filters.ts'
import { NOBODY } from '../journal/event-record.ts'
import { type ErrorDetail, ServiceError } from '../platform/errors.ts'
import { idsIn } from '../platform/http/query-parameters.ts'
import { isUuid } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { CONTACT_FACETS } from './facets.ts'
import type { ContactFilters, ListCondition } from './list.ts'
import { ListContactsQuery } from './requests.ts'
import type { HiddenFromSearch } from './search.ts'

type Query = Omit<
  Type.Static<typeof ListContactsQuery>,
  'page' | 'limit' | 'sort_by' | 'sort_property' | 'sort_dir' | 'count_only'
>

const FACETS = Object.keys(CONTACT_FACETS) as (keyof typeof CONTACT_FACETS)[]

/** Whether a query, not yet validated, filters by events; it then also needs the scope of events. */
export function filtersByEvents(query: object): boolean {
  return Object.keys(query).some((name) => name.startsWith('has_event_') && name in ListContactsQuery.properties)
}

/** The filters that a single event must match; null if there are none. */
function eventFiltersOf(query: Omit<Query, 'filter'>): EventFilters | null {
  const filters = {
    event_type: query.has_event_type,
    text: query.has_event_text,
    text_contains: query.has_event_text_contains,
    url_contains: query.has_event_url_contains,
    class_contains: query.has_event_class_contains,
    element_id: query.has_event_element_id,
    date_after: query.has_event_after,
    date_before: query.has_event_before,
  }
  const set = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
  return Object.keys(set).length > 0 ? set : null
}

/**
 * Reads the filters of a list that belong to another feature: features know contacts, not the other way round.
 * @returns their conditions; none if the query has no such filter.
 * @throws ServiceError 400, 403.
 */
export type ListFilter = (
  tenant: Tenant,
  /** `filter` as a value, or as JSON. */
  query: { filter?: unknown; segment_id?: string | undefined; import_id?: string | undefined },
  context: ListContext,
) => Promise<ListCondition[]>

interface ListContext {
  now: Date
  /** How many contacts an event condition may match. */
  contactsMax: number
  requireScope(scope: 'events:read'): void
  /** Whether personal values are hidden from the caller. */
  visibleOnly: boolean
}

interface ListNeeds extends Omit<ListContext, 'visibleOnly'> {
  listFilters: readonly ListFilter[]
  /** What is hidden from the caller; undefined if nothing is. */
  hidden?: HiddenFromSearch | undefined
}

/**
 * The filters of a list; null if no contact can match.
 * @throws ServiceError 400 `event_filter_too_broad`, `unknown_segment` or `unknown_import`.
 */
export async function contactFiltersOf(
  tenant: Tenant,
  query: Omit<Query, 'filter'> & { filter?: unknown },
  { listFilters, hidden, ...others }: ListNeeds,
): Promise<ContactFilters | null> {
  const visibleOnly = hidden !== undefined
  const context = { ...others, visibleOnly }
  const { has_linkedin = query.has_social_profile, has_social_profile = has_linkedin, company_id } = query
  const { status, job_title, search, created_after, created_before, contact_ids } = query
  // An invalid company id has no contacts, and PostgreSQL would reject it.
  const impossible = (company_id !== undefined && !isUuid(company_id)) || has_linkedin !== has_social_profile
  if (impossible) return null
  const events = eventFiltersOf(query)
  const conditions: ListCondition[] = []
  for (const filter of listFilters) conditions.push(...(await filter(tenant, query, context)))
  const named = contact_ids === undefined ? undefined : idsIn(contact_ids, 'contact_ids')
  const found = events ? await contactsWithEvent(tenant, { ...events, visibleOnly }, context.contactsMax) : undefined
  const filters = {
    ...Object.fromEntries(FACETS.map((name) => [name, query[name]])),
    status,
    job_title,
    search,
    hidden,
    has_linkedin,
    company_id,
    created_after,
    created_before,
    conditions: conditions.length > 0 ? conditions : undefined,
    contact_ids: found && named ? found.filter((id) => named.includes(id)) : (found ?? named),
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

/**
 * The contacts with a matching event.
 * @throws ServiceError 400 `event_filter_too_broad`.
 */
async function contactsWithEvent(tenant: Tenant, filters: EventFilters, contactsMax: number): Promise<string[]> {
  // Most owners are anonymous. Excluding them before they are grouped and joined halves the query's time.
  const { where, parameters } = await conditionsOf(tenant, { ...filters, identified_only: true })
  const [found] = await tenant.events.select<{ contact_ids: string[] }>({
    name: 'events.contacts_with_event',
    lane: 'heavy',
    columns: 'count() AS records',
    where,
    parameters,
    isPerContact: true,
    // One row with all ids: parsing a row for each takes longer than finding them.
    outer: {
      columns: `groupUniqArray(${contactsMax + 1})(contact_id) AS contact_ids`,
      where: `contact_id != toUUID('${NOBODY}')`,
    },
  })
  const contactIds = found?.contact_ids ?? []
  if (contactIds.length > contactsMax) {
    throw eventFilterTooBroad(contactsMax, [
      { path: 'has_event_after', message: 'excludes events before this time' },
      { path: 'has_event_before', message: 'excludes events after this time' },
    ])
  }
  return contactIds
}

/** @param details how to narrow the filter. */
export function eventFilterTooBroad(contactsMax: number, details: ErrorDetail[], cause?: unknown): ServiceError {
  const [first] = details
  const means = first?.path === 'filter' ? 'within_days' : 'has_event_after and has_event_before'
  const message = `More than ${contactsMax} contacts have a matching event. Use ${means} to narrow the range.`
  return new ServiceError(400, 'event_filter_too_broad', message, { details, cause })
}
