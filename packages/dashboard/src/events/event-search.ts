import type { ListEventsInput, ListVisitsInput } from '../api/types.ts'
import { eventFilterParam } from '../filters/filter-text.ts'
import {
  day,
  flag,
  oneOf,
  pageNumber,
  type Reader,
  searchParams,
  words,
  text as written,
} from '../session/search-params.ts'
import type { FilterField } from '../ui/filter-form.tsx'
import { daysOfPeriod, rangeSearch, resolveRange } from '../ui/range.ts'
import { text } from './text.ts'

const labels = text.filters

/** The dimensions of events, with labels. */
export const DIMENSIONS = Object.entries(text.dimensions).map(([value, label]) => ({
  value: value as Dimension,
  label,
}))

export type Dimension = keyof typeof text.dimensions

/** The filters of events in POST /v1/aggregate and GET /v1/events. */
export const EVENT_GROUP_FILTERS = [
  { name: 'event_type', label: labels.event, kind: 'event' },
  { name: 'identified_only', label: labels.identified, kind: 'yes_no' },
  { name: 'is_bot', label: labels.bots, kind: 'yes_no' },
  { name: 'origin_mismatch', label: labels.mismatch, kind: 'yes_no' },
  ...inGroup(
    labels.page,
    { name: 'url_contains', label: labels.urlContains, kind: 'text' },
    { name: 'url_path', label: labels.path, kind: 'text' },
    { name: 'domain', label: labels.domain, kind: 'text' },
    { name: 'title_contains', label: labels.titleContains, kind: 'text' },
    { name: 'referring_domain', label: labels.referring, kind: 'text' },
  ),
  ...inGroup(
    labels.campaign,
    { name: 'utm_source', label: labels.utmSource, kind: 'text' },
    { name: 'utm_medium', label: labels.utmMedium, kind: 'text' },
    { name: 'utm_campaign', label: labels.utmCampaign, kind: 'text' },
    { name: 'utm_term', label: labels.utmTerm, kind: 'text' },
    { name: 'utm_content', label: labels.utmContent, kind: 'text' },
  ),
  ...inGroup(
    labels.element,
    { name: 'text_contains', label: labels.textContains, kind: 'text' },
    { name: 'class_contains', label: labels.classContains, kind: 'text' },
    { name: 'element_id', label: labels.elementId, kind: 'text' },
    { name: 'element_type', label: labels.elementType, kind: 'text' },
  ),
  ...inGroup(
    labels.visitor,
    { name: 'contact_id', label: labels.contactId, kind: 'text' },
    { name: 'visitor_id', label: labels.visitorId, kind: 'text' },
    { name: 'session_id', label: labels.sessionId, kind: 'text' },
    { name: 'analytics_user_id', label: labels.analyticsUser, kind: 'text' },
    { name: 'country', label: labels.country, kind: 'text' },
    { name: 'region', label: labels.region, kind: 'text' },
    { name: 'city', label: labels.city, kind: 'text' },
    { name: 'device_type', label: labels.device, kind: 'choice', options: text.devices },
    { name: 'browser', label: labels.browser, kind: 'text' },
    { name: 'os', label: labels.os, kind: 'text' },
  ),
] as const

/** The list also has filters of days, and some that only a group's link sets. */
export const EVENT_LIST_FILTERS = [
  ...EVENT_GROUP_FILTERS,
  { name: 'date_after', label: labels.from, kind: 'date' },
  { name: 'date_before', label: labels.until, kind: 'date' },
  { name: 'company_id', label: labels.companyId, kind: 'text', isOnlyInLinks: true },
  { name: 'url', label: labels.url, kind: 'text', isOnlyInLinks: true },
  { name: 'title', label: labels.title, kind: 'text', isOnlyInLinks: true },
  { name: 'text', label: labels.text, kind: 'text', isOnlyInLinks: true },
] as const

const OF_VISITS = [
  'identified_only',
  'is_bot',
  'domain',
  'contact_id',
  'visitor_id',
  'country',
  'device_type',
  'browser',
  'os',
  'company_id',
] as const
type OfVisits = Extract<(typeof EVENT_LIST_FILTERS)[number], { name: (typeof OF_VISITS)[number] }>
const visitFilters = EVENT_LIST_FILTERS.filter((field): field is OfVisits =>
  (OF_VISITS as readonly string[]).includes(field.name),
)

/** The filters of GET /v1/visits: few enough to need no groups. */
export const VISIT_FILTERS: FilterField[] = visitFilters.map(({ group: _, ...field }: FilterField) => field)

export const eventListSearch = searchParams({
  page: pageNumber,
  limit: oneOf('20', '50', '100'),
  search: written,
  sort_by: oneOf('timestamp', 'event', 'createdAt'),
  sort_dir: oneOf('asc', 'desc'),
  columns: words,
  ...readersOf(EVENT_LIST_FILTERS),
  filter: eventFilterParam,
  include: oneOf('system'),
})

export type EventListSearch = ReturnType<typeof eventListSearch>

/** The query to the service for an address of the list. */
export function toEventQuery({ columns: _shown, ...search }: EventListSearch): ListEventsInput {
  return { ...search, page: search.page ?? 1, limit: Number(search.limit ?? 20) }
}

export const eventGroupSearch = searchParams({
  ...rangeSearch,
  group_by: oneOf(...DIMENSIONS.map(({ value }) => value)),
  ...readersOf(EVENT_GROUP_FILTERS),
})

export type EventGroupSearch = ReturnType<typeof eventGroupSearch>

export const visitSearch = searchParams({
  ...rangeSearch,
  page: pageNumber,
  ...readersOf(visitFilters),
})

export const VISITS_LENGTH = 50

/** The query to the service for an address of the visits. */
export function toVisitQuery({
  range,
  from,
  to,
  page = 1,
  ...filters
}: ReturnType<typeof visitSearch>): ListVisitsInput {
  const days = resolveRange({ ...(range ? { range } : {}), ...(from ? { from } : {}), ...(to ? { to } : {}) })
  return { ...filters, page, limit: VISITS_LENGTH, date_after: days.from, date_before: days.to }
}

const BUCKETS_MAX = 50

/** The request for an address of the groups. */
export function toGroupRequest({ range, from, to, group_by, ...filters }: EventGroupSearch) {
  const days = resolveRange({ ...(range ? { range } : {}), ...(from ? { from } : {}), ...(to ? { to } : {}) })
  return {
    entity: 'events' as const,
    group_by: group_by ?? 'event_type',
    limit: BUCKETS_MAX,
    filters: { ...filters, date_after: days.from, date_before: days.to },
  }
}

/**
 * The list of one group's events: the filters of the groups, plus the group's value. Undefined if no filter can select
 * them.
 */
export function eventsOfGroup(
  search: EventGroupSearch,
  key: string | number | boolean | null,
): EventListSearch | undefined {
  const { group_by: dimension, filters: counted } = toGroupRequest(search)
  if (typeof key === 'boolean') return { ...counted, is_bot: key }
  if (key === null || key === '') return undefined
  if (dimension === 'day' || dimension === 'week' || dimension === 'month') {
    const { from, to } = daysOfPeriod(String(key))
    // A week or a month may start before the counted days, or end after them.
    if (from > counted.date_after) counted.date_after = from
    if (to < counted.date_before) counted.date_before = to
    return counted
  }
  const isFilter = EVENT_LIST_FILTERS.some(({ name }) => name === dimension)
  return isFilter ? { ...counted, [dimension]: String(key) } : undefined
}

function inGroup<const Field extends FilterField>(group: string, ...all: Field[]) {
  return all.map((field) => ({ ...field, group }))
}

/** The URL parameters for some filters. */
function readersOf<Field extends FilterField>(filters: readonly Field[]) {
  const readers = filters.map(({ name, kind }) => [name, kind === 'yes_no' ? flag : kind === 'date' ? day : written])
  return Object.fromEntries(readers) as {
    [Each in Field as Each['name']]: Reader<Each['kind'] extends 'yes_no' ? boolean : string>
  }
}
