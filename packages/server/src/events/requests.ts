import Type from 'typebox'
import { pageParameters } from '../platform/http/pagination.ts'
import { filterJson, flag, oneOf, wordList } from '../platform/http/query-parameters.ts'
import { eventFilterSchemas, eventFilterSchemasExcept } from './filters.ts'

export const includeSystem = wordList(['system'], 'Adds system events, such as contact_created.')

/** Whether the `include` of a request asks for system events. */
export function includesSystem(include: readonly string[] = []): boolean {
  return include.includes('system')
}

/** `include` in a body. */
export const includeSystemInBody = Type.Optional(
  Type.Unsafe<'system'>({
    type: 'string',
    enum: ['system'],
    description: 'system: includes system events, such as contact_created.',
  }),
)

/** Query of GET /v1/events: the single-value filters of aggregation, so that a group's events can be listed. */
export const ListEventsQuery = Type.Object({
  ...pageParameters(20, 100),
  // A parameter has one value.
  ...eventFilterSchemasExcept('event_types', 'contact_ids'),
  filter: filterJson('Its conditions are on the event, as those in the where of an event condition.'),
  sort_by: oneOf(['timestamp', 'event', 'createdAt'], 'The field to sort by.', 'timestamp'),
  sort_dir: oneOf(['asc', 'desc'], 'Direction.', 'desc'),
  count_only: flag('Return only the number of results.', false),
  fields: oneOf(['summary', 'full'], 'summary: compact events without contact and company.'),
  include: includeSystem,
})

/** Filters that select whole visits: other fields differ between the events of a visit. */
export const VISIT_FILTERS = eventFilterSchemas(
  'contact_id',
  'company_id',
  'visitor_id',
  'session_id',
  'identified_only',
  'domain',
  'country',
  'device_type',
  'browser',
  'os',
  'is_bot',
  'date_after',
  'date_before',
)
