import Type from 'typebox'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { oneOf, wordList } from '../platform/http/query-parameters.ts'
import { Id, pathId, success } from '../platform/http/responses.ts'
import { EVENTS_MAX, readContactEvents, toContactEvent } from './contact-events.ts'
import { ContactEvent, EnrichedEvent, PlainEvent, SummaryEvent } from './event-object.ts'
import { eventFilterSchemas } from './filters.ts'
import { countEvents, listEventSummaries, listEvents } from './list.ts'
import { listEventTypes, readEvent } from './read.ts'
import { includeSystem, ListEventsQuery } from './requests.ts'
import { eventStatistics, STATISTICS } from './stats.ts'

const EventStats = Type.Object({
  total: Type.Integer(),
  by_type: Type.Optional(
    Type.Array(Type.Object({ type: Type.String(), count: Type.Integer() }), {
      description: 'The 50 most frequent types.',
    }),
  ),
  by_domain: Type.Optional(
    Type.Array(Type.Object({ domain: Type.String(), count: Type.Integer() }), {
      description: 'The 50 most frequent domains.',
    }),
  ),
  by_day: Type.Optional(
    Type.Array(Type.Object({ date: Type.String({ examples: ['2026-01-31'] }), count: Type.Integer() }), {
      description: 'The 90 most recent days (UTC) that have events, in chronological order.',
    }),
  ),
})

/** Events: list, names, statistics, of a contact, one. */
export function eventRoutes(app: App): void {
  app.get(
    '/v1/events',
    {
      config: { access: 'events:read' },
      schema: {
        operationId: 'listEvents',
        summary: 'List, filter and search events',
        tags: ['Events'],
        querystring: ListEventsQuery,
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
      const counting = countEvents(tenant, filters)
      if (count_only) return { status: 'success' as const, count: await counting }
      const order = { sortBy: sort_by ?? 'timestamp', direction: sort_dir ?? 'desc' } as const
      const list = fields === 'summary' ? listEventSummaries : listEvents
      const [events, total] = await Promise.all([list(tenant, filters, order, { page, limit }), counting])
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
        querystring: Type.Object({ ...pageParameters(1_000, 1_000), include: includeSystem }),
        response: {
          200: success({ types: Type.Array(Type.String()), total_items: Type.Integer(), pagination: Pagination }),
        },
      },
    },
    async ({ tenant, query: { page = 1, limit = 1_000, include } }) => {
      const withSystem = include?.includes('system') ?? false
      const { types, total } = await listEventTypes(tenant, withSystem, { page, limit })
      const pagination = paginationOf({ page, limit }, total)
      return { status: 'success' as const, types, total_items: total, pagination }
    },
  )

  app.get(
    '/v1/events/stats',
    {
      config: { access: 'events:read' },
      schema: {
        operationId: 'getEventStats',
        summary: 'Count events by type, domain and day',
        tags: ['Events'],
        querystring: Type.Object({
          ...eventFilterSchemas('event_type', 'domain', 'date_after', 'date_before', 'identified_only'),
          group_by: oneOf(STATISTICS, 'Return only this list; default: all three.'),
          include: includeSystem,
        }),
        response: { 200: success({ stats: EventStats }) },
      },
    },
    async ({ tenant, query: { group_by, include, ...rest } }) => {
      const filters = { ...rest, includeSystem: include?.includes('system') ?? false }
      const stats = await eventStatistics(tenant, filters, group_by ? [group_by] : STATISTICS)
      return { status: 'success' as const, stats }
    },
  )

  app.get(
    '/v1/contacts/events/:contact_id',
    {
      config: { access: 'contacts:read' },
      schema: {
        operationId: 'listContactEvents',
        summary: 'List the events of a contact, at most 1,000, even after its deletion',
        description:
          'An answer contains at most 8 MiB of events: `returned` is their number. GET /v1/events?contact_id=… pages through all of them.',
        tags: ['Contacts'],
        params: Type.Object({ contact_id: Type.String() }),
        querystring: Type.Object({
          ...eventFilterSchemas('event_type'),
          sort_dir: oneOf(['asc', 'desc'], 'Oldest or newest first.', 'desc'),
          fields: oneOf(['summary', 'full'], 'summary: compact events.'),
          include: wordList(
            ['provenance', 'system'],
            'system adds system events. provenance is accepted; events have none.',
          ),
        }),
        response: {
          200: success({
            events: Type.Union([Type.Array(PlainEvent), Type.Array(ContactEvent)]),
            contact_id: Id,
            total_items: Type.Integer({ description: 'The number of matching events.' }),
            returned: Type.Integer({ description: 'The number of events in this answer, at most 1,000.' }),
          }),
        },
      },
    },
    async ({ tenant, params, warnings, query: { sort_dir = 'desc', fields, include, ...rest } }) => {
      const contactId = pathId(params.contact_id, 'contact')
      const filters = { ...rest, includeSystem: include?.includes('system') ?? false }
      const { events, total } = await readContactEvents(tenant, contactId, filters, sort_dir)
      if (events.length < Math.min(total, EVENTS_MAX)) {
        warnings.push(
          `Only the first ${events.length} events fit into 8 MiB. GET /v1/events?contact_id=${contactId} pages through all of them.`,
        )
      }
      const answer = { contact_id: contactId, total_items: total, returned: events.length }
      const shown = fields === 'summary' ? events.map(toContactEvent) : events
      return { status: 'success' as const, events: shown, ...answer }
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
