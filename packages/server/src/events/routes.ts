import Type from 'typebox'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { filterText, flag, oneOf, timestampBound, wordList } from '../platform/http/query-parameters.ts'
import { pathId, success } from '../platform/http/responses.ts'
import { isUuid } from '../platform/ids.ts'
import { EnrichedEvent, SummaryEvent } from './event-object.ts'
import { countEvents, listEventSummaries, listEvents } from './list.ts'
import { listEventTypes, readEvent } from './read.ts'

const include = wordList(['system'], "Adds the service's own events, such as contact_created.")

const ListQuery = Type.Object({
  ...pageParameters(20, 100),
  event_type: filterText('Exact event name.', 200),
  contact_id: filterText('Events of this contact.', 200),
  domain: filterText('Exact host of the URL.', 300),
  url_contains: filterText('Part of the URL, in any case.'),
  date_after: timestampBound('lower', 'At or after this moment.'),
  date_before: timestampBound('upper', 'At or before this moment.'),
  identified_only: flag('Only events of a known contact.', false),
  search: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'Words that must all occur in event name, URL or domain.' }),
  ),
  sort_by: oneOf(['timestamp', 'event', 'createdAt'], 'Sort by.', 'timestamp'),
  sort_dir: oneOf(['asc', 'desc'], 'Direction.', 'desc'),
  count_only: flag('Answer only how many there are.', false),
  fields: oneOf(['summary', 'full'], 'summary: compact events without contact and company.'),
  include,
})

/** Events: list, names, one. */
export function eventRoutes(app: App): void {
  app.get(
    '/v1/events',
    {
      config: { access: 'events:read' },
      schema: {
        operationId: 'listEvents',
        summary: 'List, filter and search events',
        tags: ['Events'],
        querystring: ListQuery,
        response: {
          200: Type.Union([
            success({
              events: Type.Union([Type.Array(EnrichedEvent), Type.Array(SummaryEvent)]),
              pagination: Pagination,
            }),
            success({ count: Type.Integer() }),
          ]),
        },
      },
    },
    async ({ tenant, query }) => {
      const { page = 1, limit = 20, sort_by, sort_dir, count_only, fields, include, ...rest } = query
      const filters = { ...rest, includeSystem: include?.includes('system') ?? false }
      // A contact that cannot exist has no events; ClickHouse would refuse to compare it.
      const impossible = filters.contact_id !== undefined && !isUuid(filters.contact_id)
      const counting = impossible ? Promise.resolve(0) : countEvents(tenant, filters)
      if (count_only) return { status: 'success' as const, count: await counting }
      const order = { sortBy: sort_by ?? 'timestamp', direction: sort_dir ?? 'desc' } as const
      const list = fields === 'summary' ? listEventSummaries : listEvents
      const listing = impossible ? [] : list(tenant, filters, order, { page, limit })
      const [events, total] = await Promise.all([listing, counting])
      return { status: 'success' as const, events, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.get(
    '/v1/events/types',
    {
      config: { access: 'events:read' },
      schema: {
        operationId: 'listEventTypes',
        summary: 'List the distinct event names',
        tags: ['Events'],
        querystring: Type.Object({ include }),
        response: { 200: success({ types: Type.Array(Type.String()), total_items: Type.Integer() }) },
      },
    },
    async ({ tenant, query }) => {
      const types = await listEventTypes(tenant, query.include?.includes('system') ?? false)
      return { status: 'success' as const, types, total_items: types.length }
    },
  )

  app.get(
    '/v1/events/:event_id',
    {
      config: { access: 'events:read' },
      schema: {
        operationId: 'getEvent',
        summary: 'Get one event with its contact and company',
        tags: ['Events'],
        params: Type.Object({ event_id: Type.String() }),
        response: { 200: success({ event: EnrichedEvent }) },
      },
    },
    async ({ tenant, params }) => {
      const event = await readEvent(tenant, pathId(params.event_id, 'event'))
      return { status: 'success' as const, event }
    },
  )
}
