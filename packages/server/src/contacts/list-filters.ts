import type Type from 'typebox'
import { conditionsOf, type EventFilters } from '../events/filters.ts'
import { NOBODY } from '../journal/event-record.ts'
import { ServiceError } from '../platform/errors.ts'
import { isUuid } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { ContactFilters } from './list.ts'
import { ListContactsQuery } from './requests.ts'

type Query = Type.Static<typeof ListContactsQuery>

/** Whether a query, not yet validated, filters by events; it then also needs the scope of events. */
export function filtersByEvents(query: object): boolean {
  return Object.keys(query).some((name) => name.startsWith('has_event_') && name in ListContactsQuery.properties)
}

/** The filters that a single event must match; null if there are none. */
export function eventFiltersOf(query: Query): EventFilters | null {
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
 * The filters of a list; null if no contact can match.
 * @throws ServiceError 400 `event_filter_too_broad`.
 */
export async function contactFiltersOf(
  tenant: Tenant,
  query: Query,
  events: EventFilters | null,
  contactsMax: number,
): Promise<ContactFilters | null> {
  const { has_linkedin = query.has_social_profile, has_social_profile = has_linkedin, company_id } = query
  const { status, lifecycle_stage, lead_status, country, industry, city, state, job_title, search } = query
  const { created_after, created_before } = query
  // An invalid company id has no contacts, and PostgreSQL would reject it.
  const impossible = (company_id !== undefined && !isUuid(company_id)) || has_linkedin !== has_social_profile
  if (impossible) return null
  const filters = {
    status,
    lifecycle_stage,
    lead_status,
    country,
    industry,
    city,
    state,
    job_title,
    search,
    has_linkedin,
    company_id,
    created_after,
    created_before,
    contact_ids: events ? await contactsWithEvent(tenant, events, contactsMax) : undefined,
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

/**
 * The contacts with a matching event. ClickHouse stops as soon as there are too many.
 * @throws ServiceError 400 `event_filter_too_broad`.
 */
async function contactsWithEvent(tenant: Tenant, filters: EventFilters, contactsMax: number): Promise<string[]> {
  const { where, parameters } = await conditionsOf(tenant, filters)
  const rows = await tenant.events.select<{ contact_id: string }>({
    name: 'events.contacts_with_event',
    lane: 'heavy',
    columns: 'count() AS records',
    where,
    parameters,
    isPerContact: true,
    outer: { columns: 'DISTINCT contact_id', where: `contact_id != toUUID('${NOBODY}')`, limit: contactsMax + 1 },
  })
  if (rows.length > contactsMax) {
    const message = `More than ${contactsMax} contacts have a matching event. Use has_event_after and has_event_before to narrow the range.`
    throw new ServiceError(400, 'event_filter_too_broad', message, {
      details: [
        { path: 'has_event_after', message: 'excludes events before this time' },
        { path: 'has_event_before', message: 'excludes events after this time' },
      ],
    })
  }
  return rows.map(({ contact_id }) => contact_id)
}
