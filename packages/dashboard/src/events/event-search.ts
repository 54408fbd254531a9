import type { Query } from '../api/client.ts'
import { day, flag, oneOf, pageNumber, searchParams, text, words } from '../app/search-params.ts'
import type { FilterField } from '../ui/filter-form.tsx'
import { daysOfPeriod, rangeSearch, resolveRange } from '../ui/range.ts'

const DEVICES = ['desktop', 'mobile', 'tablet', 'tv', 'bot'].map((value) => ({ value, label: value }))

/** The dimensions of events, with labels. */
export const DIMENSIONS = [
  { value: 'event_type', label: 'Event' },
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week' },
  { value: 'month', label: 'Month' },
  { value: 'url_path', label: 'Page (path)' },
  { value: 'url', label: 'Address' },
  { value: 'title', label: 'Page title' },
  { value: 'domain', label: 'Domain' },
  { value: 'referring_domain', label: 'Referring domain' },
  { value: 'text', label: 'Element text' },
  { value: 'element_type', label: 'Element type' },
  { value: 'element_id', label: 'Element id' },
  { value: 'class', label: 'CSS class' },
  { value: 'device_type', label: 'Device' },
  { value: 'browser', label: 'Browser' },
  { value: 'os', label: 'Operating system' },
  { value: 'is_bot', label: 'Bot or not' },
  { value: 'contact_id', label: 'Contact' },
  { value: 'company_id', label: 'Company' },
  { value: 'visitor_id', label: 'Visitor' },
  { value: 'session_id', label: 'Session' },
  { value: 'analytics_user_id', label: 'Analytics user id' },
] as const

export type Dimension = (typeof DIMENSIONS)[number]['value']

/** The filters of events in POST /v1/aggregate and GET /v1/events. */
export const EVENT_GROUP_FILTERS: FilterField[] = [
  { name: 'event_type', label: 'Event', kind: 'text', description: 'The exact name, for example page_view.' },
  { name: 'identified_only', label: 'Identified contacts only', kind: 'yes_no' },
  { name: 'is_bot', label: 'Bots', kind: 'yes_no' },
  { name: 'origin_mismatch', label: 'Sent from a different host', kind: 'yes_no' },
  ...inGroup('Page', [
    { name: 'url_contains', label: 'Address contains', kind: 'text' },
    { name: 'url_path', label: 'Path is', kind: 'text' },
    { name: 'domain', label: 'Domain', kind: 'text' },
    { name: 'title_contains', label: 'Title contains', kind: 'text' },
    { name: 'referring_domain', label: 'Referring domain', kind: 'text' },
  ]),
  ...inGroup('Element', [
    { name: 'text_contains', label: 'Text contains', kind: 'text' },
    { name: 'class_contains', label: 'CSS class contains', kind: 'text' },
    { name: 'element_id', label: 'Element id', kind: 'text' },
    { name: 'element_type', label: 'Element type', kind: 'text' },
  ]),
  ...inGroup('Visitor and device', [
    { name: 'contact_id', label: 'Contact id', kind: 'text' },
    { name: 'visitor_id', label: 'Visitor id', kind: 'text' },
    { name: 'session_id', label: 'Session id', kind: 'text' },
    { name: 'analytics_user_id', label: 'Analytics user id', kind: 'text' },
    { name: 'device_type', label: 'Device', kind: 'choice', options: DEVICES },
    { name: 'browser', label: 'Browser', kind: 'text' },
    { name: 'os', label: 'Operating system', kind: 'text' },
  ]),
]

/** The list also has filters of days, and some that only a group's link sets. */
export const EVENT_LIST_FILTERS: FilterField[] = [
  ...EVENT_GROUP_FILTERS,
  { name: 'date_after', label: 'From', kind: 'date' },
  { name: 'date_before', label: 'Until', kind: 'date' },
  { name: 'url', label: 'Address', kind: 'text', isOnlyInLinks: true },
  { name: 'title', label: 'Page title', kind: 'text', isOnlyInLinks: true },
  { name: 'text', label: 'Element text', kind: 'text', isOnlyInLinks: true },
]

const filters = {
  event_type: text,
  identified_only: flag,
  is_bot: flag,
  origin_mismatch: flag,
  url_contains: text,
  url_path: text,
  domain: text,
  title_contains: text,
  referring_domain: text,
  text_contains: text,
  class_contains: text,
  element_id: text,
  element_type: text,
  contact_id: text,
  visitor_id: text,
  session_id: text,
  analytics_user_id: text,
  device_type: text,
  browser: text,
  os: text,
}

export const eventListSearch = searchParams({
  page: pageNumber,
  limit: oneOf('20', '50', '100'),
  search: text,
  sort_by: oneOf('timestamp', 'event', 'createdAt'),
  sort_dir: oneOf('asc', 'desc'),
  columns: words,
  ...filters,
  url: text,
  title: text,
  text,
  date_after: day,
  date_before: day,
  include: oneOf('system'),
})

export type EventListSearch = ReturnType<typeof eventListSearch>

/** The query to the service for an address of the list. */
export function toEventQuery({ columns: _shown, ...search }: EventListSearch): Query {
  return { ...search, page: search.page ?? 1, limit: search.limit ?? '20' }
}

export const eventGroupSearch = searchParams({
  ...rangeSearch,
  group_by: oneOf(...DIMENSIONS.map(({ value }) => value)),
  ...filters,
})

export type EventGroupSearch = ReturnType<typeof eventGroupSearch>

const BUCKETS_MAX = 50

/** The request to the service for an address of the groups. */
export function toGroupRequest({ range, from, to, group_by, ...filters }: EventGroupSearch) {
  const days = resolveRange({ ...(range ? { range } : {}), ...(from ? { from } : {}), ...(to ? { to } : {}) })
  return {
    group_by: group_by ?? 'event_type',
    limit: BUCKETS_MAX,
    filters: { ...filters, date_after: days.from, date_before: days.to },
  }
}

/**
 * The list of one group's events: the filters of the groups, plus the group's value. Undefined if no filter can select
 * them.
 */
export function eventsOfGroup(search: EventGroupSearch, key: string | boolean | null): EventListSearch | undefined {
  const { group_by: dimension, filters: counted } = toGroupRequest(search)
  if (typeof key === 'boolean') return { ...counted, is_bot: key }
  if (key === null || key === '') return undefined
  if (dimension === 'day' || dimension === 'week' || dimension === 'month') {
    const { from, to } = daysOfPeriod(key)
    // A week or a month may start before the counted days, or end after them.
    if (from > counted.date_after) counted.date_after = from
    if (to < counted.date_before) counted.date_before = to
    return counted
  }
  const isFilter = EVENT_LIST_FILTERS.some(({ name }) => name === dimension)
  return isFilter ? { ...counted, [dimension]: key } : undefined
}

function inGroup(group: string, fields: FilterField[]): FilterField[] {
  return fields.map((field) => ({ ...field, group }))
}
