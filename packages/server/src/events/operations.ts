import Type from 'typebox'
import type { WarningsAbout } from '../conditions/language.ts'
import { idInPath, operation, operationsWith } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { LABEL, WORD } from '../platform/personal.ts'
import { EnrichedEvent, SummaryEvent } from './event-object.ts'
import { type CompileEventFilter, eventFilterSchemas, withCompany } from './filters.ts'
import { countEvents, listEventSummaries, listEvents } from './list.ts'
import { joinContacts, type People } from './people.ts'
import { listEventTypes, readEvent } from './read.ts'
import { includeSystem, includesSystem, ListEventsQuery, VISIT_FILTERS } from './requests.ts'
import { eventStatistics, STATISTICS } from './stats.ts'
import { TimelineItem, Visit } from './visit-object.ts'
import { readVisitor, Visitor } from './visitor.ts'
import { listTimeline, listVisits } from './visits.ts'

const tag = 'Events'

const EventStats = Type.Object({
  total: Type.Integer(),
  by_type: Type.Optional(
    Type.Array(Type.Object({ type: Type.String(LABEL), count: Type.Integer() }), {
      description: 'The 50 most frequent types.',
    }),
  ),
  by_domain: Type.Optional(
    Type.Array(Type.Object({ domain: Type.String(WORD), count: Type.Integer() }), {
      description: 'The 50 most frequent domains.',
    }),
  ),
  by_day: Type.Optional(
    Type.Array(Type.Object({ date: Type.String({ examples: ['2026-01-31'], ...WORD }), count: Type.Integer() }), {
      description: 'The 90 most recent days (UTC) that have events, in chronological order.',
    }),
  ),
})

const RANGE =
  'Without `date_after` and without a contact, company, visitor or session, the 28 days before `date_before` are listed.'

export interface EventServices {
  people: People
  compileEventFilter: CompileEventFilter
  warningsAbout: WarningsAbout
}

const eventOperation = operationsWith<EventServices>()

/** Reads of events. */
export const EVENT_OPERATIONS = [
  eventOperation({
    name: 'listEvents',
    tag,
    http: 'GET /v1/events',
    command: 'event list',
    scope: 'events:read',
    summary: 'List, filter and search events',
    input: ListEventsQuery.properties,
    output: {
      events: Type.Optional(Type.Union([Type.Array(EnrichedEvent), Type.Array(SummaryEvent)])),
      pagination: Type.Optional(Pagination),
      count: Type.Optional(Type.Integer({ description: 'With `count_only`, instead of the other fields.' })),
    },
    async run(context, { page, limit, sort_by, sort_dir, count_only, fields, include, filter, ...rest }) {
      const { tenant, people, redaction, warn, compileEventFilter, warningsAbout } = context
      const shown = { includeSystem: includesSystem(include), visibleOnly: redaction !== undefined }
      const where =
        filter === undefined ? {} : { where: await compileEventFilter(tenant, { filter }, { ...context, ...shown }) }
      const filters = await withCompany(tenant, people, { ...rest, ...shown, ...where })
      if (filter !== undefined) for (const warning of await warningsAbout(tenant, 'events', filter)) warn(warning)
      const counting = countEvents(tenant, filters)
      if (count_only) return { count: await counting }
      const order = { sortBy: sort_by, direction: sort_dir } as const
      const window = { page, limit }
      const list = async () =>
        fields === 'summary'
          ? listEventSummaries(tenant, filters, order, window)
          : joinContacts(tenant, people, await listEvents(tenant, filters, order, window))
      const [events, total] = await Promise.all([list(), counting])
      return { events, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'listEventTypes',
    tag,
    http: 'GET /v1/events/types',
    command: 'event-type list',
    scope: 'events:read',
    summary: 'List the distinct event names',
    input: { ...pageParameters(1_000, 1_000), include: includeSystem },
    output: { types: Type.Array(Type.String(LABEL)), total_items: Type.Integer(), pagination: Pagination },
    async run({ tenant }, { page, limit, include }) {
      const { types, total } = await listEventTypes(tenant, includesSystem(include), { page, limit })
      return { types, total_items: total, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getEventStats',
    tag,
    http: 'GET /v1/events/stats',
    command: 'event stats',
    scope: 'events:read',
    summary: 'Count events by type, domain and day',
    input: {
      ...eventFilterSchemas('event_type', 'domain', 'date_after', 'date_before', 'identified_only'),
      group_by: oneOf(STATISTICS, 'Return only this list. Default: all three.'),
      include: includeSystem,
    },
    output: { stats: EventStats },
    async run({ tenant }, { group_by, include, ...rest }) {
      const filters = { ...rest, includeSystem: includesSystem(include) }
      return { stats: await eventStatistics(tenant, filters, group_by ? [group_by] : STATISTICS) }
    },
  }),
  eventOperation({
    name: 'getEvent',
    tag,
    http: 'GET /v1/events/:event_id',
    command: 'event get',
    scope: 'events:read',
    summary: 'Get one event with its contact and company',
    input: { event_id: idInPath('event') },
    output: { event: EnrichedEvent },
    run: async ({ tenant, people }, { event_id }) => ({ event: await readEvent(tenant, people, event_id) }),
  }),
  eventOperation({
    name: 'getVisitor',
    tag,
    http: 'GET /v1/visitors/:visitor_id',
    command: 'visitor get',
    scope: 'events:read',
    summary: 'Get a visitor: what its events say about it, and its contact',
    description: 'Its events are listed by `GET /v1/events?visitor_id=`. A visitor without events is unknown.',
    input: { visitor_id: Type.String({ description: 'The visitor, as its tracker or its sender named it.' }) },
    output: { visitor: Visitor },
    errors: ['404 not_found'],
    run: async ({ tenant, people }, { visitor_id }) => ({ visitor: await readVisitor(tenant, people, visitor_id) }),
  }),
  eventOperation({
    name: 'listVisits',
    tag,
    http: 'GET /v1/visits',
    command: 'visit list',
    scope: 'events:read',
    summary: 'List visits, the latest first',
    description: `A visit has the events of one session of a visitor. The dates are those of its first event. ${RANGE}`,
    input: { ...pageParameters(20, 100), ...VISIT_FILTERS },
    output: { visits: Type.Array(Visit), pagination: Pagination },
    async run({ tenant, people, now }, { page, limit, ...rest }) {
      const filters = await withCompany(tenant, people, rest)
      const { visits, total } = await listVisits(tenant, people, filters, { page, limit }, now)
      return { visits, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  eventOperation({
    name: 'getTimeline',
    tag,
    http: 'GET /v1/timeline',
    command: 'event timeline',
    scope: 'events:read',
    summary: 'List visits, and the events outside visits, the latest first',
    description: `The events outside visits are those without a session and, with \`include=system\`, system events. ${RANGE}`,
    input: { ...pageParameters(20, 100), ...VISIT_FILTERS, include: includeSystem },
    output: { items: Type.Array(TimelineItem), pagination: Pagination },
    async run({ tenant, people, now }, { page, limit, include, ...rest }) {
      const filters = await withCompany(tenant, people, { ...rest, includeSystem: includesSystem(include) })
      const { items, total } = await listTimeline(tenant, people, filters, { page, limit }, now)
      return { items, pagination: paginationOf({ page, limit }, total) }
    },
  }),
]
