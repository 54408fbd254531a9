import type { SegmentFilter } from '../api/types.ts'
import type { ConditionOnEvent, EventMatch, FilterOfEvents } from '../filters/draft.ts'
import type { EventListSearch } from './event-search.ts'

/** Filters of the list that an event condition has under the same name. */
const SAME = ['url_contains', 'text_contains', 'class_contains', 'element_id'] as const
/** Filters of the list that are equal to a property of the event. */
const EQUAL = [
  'url',
  'url_path',
  'domain',
  'referring_domain',
  'title',
  'text',
  'element_type',
  'visitor_id',
  'session_id',
  'analytics_user_id',
  'device_type',
  'browser',
  'os',
  'is_bot',
  'origin_mismatch',
] as const
/** What says nothing about the event, or nothing else than a segment: its members are contacts. */
const IGNORED = ['page', 'limit', 'sort_by', 'sort_dir', 'columns', 'include', 'identified_only'] as const

/**
 * The segment of the contacts who did what a list of events shows.
 * @returns isWhole: false if the list is narrowed by more than the segment
 */
export function asSegment(
  search: EventListSearch,
  filter: FilterOfEvents | undefined,
): { segment: SegmentFilter | null; isWhole: boolean } {
  const where: ConditionOnEvent[] = [
    ...(filter?.match === 'any' ? [filter] : (filter?.conditions ?? [])),
    ...EQUAL.flatMap((property) => {
      const value = search[property]
      return value === undefined ? [] : [{ property, operator: 'equals' as const, value }]
    }),
  ]
  const { title_contains, event_type, date_after, date_before } = search
  if (title_contains !== undefined) where.push({ property: 'title', operator: 'contains', value: title_contains })
  const event: EventMatch = {
    ...(event_type === undefined ? {} : { type: event_type }),
    ...Object.fromEntries(SAME.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]]))),
    ...(where.length > 0 ? { where } : {}),
    ...(date_after === undefined ? {} : { after: date_after }),
    ...(date_before === undefined ? {} : { before: date_before }),
  }
  const known: readonly string[] = [
    ...SAME,
    ...EQUAL,
    ...IGNORED,
    'filter',
    'title_contains',
    'event_type',
    'date_after',
    'date_before',
  ]
  const isWhole = Object.entries(search).every(([name, value]) => value === undefined || known.includes(name))
  if (Object.keys(event).length === 0) return { segment: null, isWhole }
  return { segment: { match: 'all', conditions: [{ event, operator: 'did' }] }, isWhole }
}
