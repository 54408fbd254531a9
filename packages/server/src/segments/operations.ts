import Type from 'typebox'
import { Company } from '../companies/company-object.ts'
import { namesEvents } from '../conditions/language.ts'
import { SegmentFilterSchema } from '../conditions/schema.ts'
import { SegmentMember } from '../contacts/contact-object.ts'
import { entryAbout } from '../operations/audit.ts'
import { type Context, type FurtherScopes, idInPath, operation } from '../operations/declare.ts'
import { fieldOf } from '../operations/further-scopes.ts'
import type { Scope } from '../operations/scopes.ts'
import { ServiceError } from '../platform/errors.ts'
import { daysOf, rangeOf, rangeParameters } from '../platform/http/days.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { Changed, Id } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import { warningsAbout } from '../properties/in-conditions.ts'
import { SegmentChange, segmentChanges } from './changes.ts'
import { backgroundContext } from './events.ts'
import { SegmentDay, SegmentPastDay, segmentGrowth, segmentPast } from './growth.ts'
import { requireAnswerable } from './insight-people.ts'
import { listCompaniesIn, listMembers } from './members.ts'
import type { Entity } from './named-segments.ts'
import { previewSegment } from './preview.ts'
import { EntityInput, Segment } from './segment-object.ts'
import {
  countSegments,
  createSegment,
  deleteSegment,
  entityOf,
  findSegment,
  listSegments,
  PARSE_FILTER,
  readSegment,
  readSegmentSoFar,
  updateSegment,
} from './segments.ts'

const tag = 'Segments'
const SegmentPath = { segment_id: idInPath('segment') }
const COUNTING =
  'The members of this segment are still being counted, so the list may be incomplete or have extra ones. Try again shortly.'

const Name = Type.String({ examples: ['Leads in France'] })
const Description = Type.Optional(
  Type.Union([Type.String(), Type.Null()], { 'x-expected': 'a string, or null for none' }),
)
// The filter's parser reports every invalid place in it.
const Filter = { 'x-record': SegmentFilterSchema }
const FILTER_EXAMPLE = { match: 'all', conditions: [{ property: 'country', operator: 'equals', value: 'France' }] }

const isOfCompanies = (sent: unknown) => fieldOf(sent, 'entity') === 'companies'

const NAMES_EVENTS: FurtherScopes = {
  scopes: ['events:read'],
  when: 'with event conditions in `filter`',
  ofSent: (sent) => namesEvents(fieldOf(sent, 'filter')),
}

/** Whoever defines a segment learns how many records match its filter, and how many have the events in it. */
const COUNTS_MEMBERS: readonly FurtherScopes[] = [
  { scopes: ['contacts:read'], when: 'for contacts', ofSent: (sent) => !isOfCompanies(sent) },
  { scopes: ['companies:read'], when: 'for companies', ofSent: isOfCompanies },
  NAMES_EVENTS,
]

/** The same for a segment that exists: all that lack are named together. */
const OF_SEGMENT = [
  hasMembers('contacts', 'contacts:read'),
  hasMembers('companies', 'companies:read'),
  {
    scopes: NAMES_EVENTS.scopes,
    when: 'with event conditions in `filter`',
    ofRecord: async (_context: Context, { filter }: { filter?: unknown }) => namesEvents(filter),
  },
]

function hasMembers(entity: Entity, scope: Scope) {
  return {
    scopes: [scope],
    when: `for ${entity}`,
    ofRecord: async ({ tenant }: Context, { segment_id: id }: { segment_id: string }) =>
      (await findSegment(tenant, id, entity)) !== undefined,
  }
}

const entryOf = entryAbout('segment')

/** Refuses to list what a segment does not have. @throws ServiceError 400 `wrong_entity`. */
function requireEntity({ segment_id, entity }: { segment_id: string; entity: Entity }, asked: Entity): void {
  if (entity === asked) return
  const route = `GET /v1/segments/${segment_id}/${entity}`
  throw new ServiceError(
    400,
    'wrong_entity',
    `This is a segment of ${entity}, not of ${asked}. ${route} lists its members.`,
  )
}

/** What needs events. Outside the transaction, because it may read many. Misspelt names in a filter are no errors. */
async function checkFilter(
  { tenant, now, warn }: Pick<Context, 'tenant' | 'now' | 'warn'>,
  entity: Entity,
  filter: unknown,
) {
  const parsed = PARSE_FILTER[entity](filter)
  await requireAnswerable(backgroundContext(tenant, now), parsed)
  for (const warning of await warningsAbout(tenant, entity, parsed)) warn(warning)
}

export const SEGMENT_OPERATIONS = [
  operation({
    name: 'listSegments',
    tag,
    http: 'GET /v1/segments',
    command: 'segment list',
    scope: 'segments:read',
    summary: 'List the segments, newest first',
    input: pageParameters(50, 100),
    output: { segments: Type.Array(Segment), pagination: Pagination },
    async run({ tenant }, { page, limit }) {
      const [segments, total] = await Promise.all([listSegments(tenant, { page, limit }), countSegments(tenant)])
      return { segments, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'createSegment',
    tag,
    http: 'POST /v1/segments',
    command: 'segment create',
    scope: 'segments:write',
    also: COUNTS_MEMBERS,
    summary: 'Define a segment; its members are counted in the background',
    input: { name: Name, description: Description, entity: EntityInput, filter: Type.Unsafe<unknown>(Filter) },
    output: { segment: Segment },
    status: 201,
    example: { name: 'Leads in France', filter: FILTER_EXAMPLE },
    errors: ['400 segment_circle', '400 unknown_segment', '409 too_many_segments'],
    check: (context, { entity = 'contacts', filter }) => checkFilter(context, entity, filter),
    async run({ tenant, now, redaction }, { name, description = null, entity, filter }) {
      const segment = { name, description, ...(entity ? { entity } : {}), filter, visibleOnly: redaction !== undefined }
      const { segmentId } = await createSegment(tenant, segment, now)
      return { segment: await readSegment(tenant, segmentId) }
    },
    audit: ({ segment: { segment_id, name } }) => entryOf('segment.created', segment_id, { name }),
  }),
  operation({
    name: 'previewSegment',
    tag,
    http: 'POST /v1/segments/preview',
    command: 'segment preview',
    scope: 'segments:read',
    also: COUNTS_MEMBERS,
    summary: 'Count the contacts or companies that match a filter, without defining a segment',
    input: { entity: EntityInput, filter: Type.Unsafe<unknown>(Filter) },
    output: {
      count: Type.Integer(),
      sample: Type.Array(SegmentMember, { description: 'Some of the matching contacts; empty for companies.' }),
      companies: Type.Array(Company, { description: 'Some of the matching companies; empty for contacts.' }),
      took_ms: Type.Integer(),
    },
    example: { filter: FILTER_EXAMPLE },
    errors: ['400 preview_too_slow', '400 unknown_segment'],
    reads: true,
    async run({ tenant, now, redaction, warn }, { entity = 'contacts', filter }) {
      const startedAt = performance.now()
      const preview = await previewSegment(tenant, entity, filter, now, redaction !== undefined)
      for (const warning of await warningsAbout(tenant, entity, filter)) warn(warning)
      return { ...preview, took_ms: Math.round(performance.now() - startedAt) }
    },
  }),
  operation({
    name: 'getSegment',
    tag,
    http: 'GET /v1/segments/:segment_id',
    command: 'segment get',
    scope: 'segments:read',
    summary: 'Get a segment, without its members',
    input: SegmentPath,
    output: { segment: Segment },
    run: async ({ tenant }, { segment_id }) => ({ segment: await readSegment(tenant, segment_id) }),
  }),
  operation({
    name: 'listSegmentContacts',
    tag,
    http: 'GET /v1/segments/:segment_id/contacts',
    command: 'segment contacts',
    scope: 'segments:read',
    summary: 'List the contacts in a segment of contacts',
    input: { ...SegmentPath, ...pageParameters(20, 100) },
    output: {
      segment_name: Type.String(TEXT),
      counting: Type.Boolean({
        description: 'Whether members are still being counted: the list may be incomplete or have extra contacts.',
      }),
      contacts: Type.Array(SegmentMember),
      pagination: Pagination,
    },
    errors: ['400 wrong_entity'],
    async run({ tenant, warn }, { segment_id, page, limit }) {
      const { segment, found } = await readSegmentSoFar(tenant, segment_id)
      requireEntity(segment, 'contacts')
      const contacts = await listMembers(tenant, segment_id, { page, limit })
      if (segment.counting) warn(COUNTING)
      const pagination = paginationOf({ page, limit }, found)
      return { segment_name: segment.name, counting: segment.counting, contacts, pagination }
    },
  }),
  operation({
    name: 'listSegmentCompanies',
    tag,
    http: 'GET /v1/segments/:segment_id/companies',
    command: 'segment companies',
    scope: 'segments:read',
    also: [{ scopes: ['companies:read'] }],
    summary: 'List the companies in a segment of companies',
    input: { ...SegmentPath, ...pageParameters(20, 100) },
    output: {
      segment_name: Type.String(TEXT),
      counting: Type.Boolean({
        description: 'Whether members are still being counted: the list may be incomplete or have extra companies.',
      }),
      companies: Type.Array(Company),
      pagination: Pagination,
    },
    errors: ['400 wrong_entity'],
    async run({ tenant, warn }, { segment_id, page, limit }) {
      const { segment, found } = await readSegmentSoFar(tenant, segment_id)
      requireEntity(segment, 'companies')
      const companies = await listCompaniesIn(tenant, segment_id, { page, limit })
      if (segment.counting) warn(COUNTING)
      const pagination = paginationOf({ page, limit }, found)
      return { segment_name: segment.name, counting: segment.counting, companies, pagination }
    },
  }),
  operation({
    name: 'getSegmentGrowth',
    tag,
    http: 'GET /v1/segments/:segment_id/growth',
    command: 'segment growth',
    scope: 'segments:read',
    summary: 'Get how many contacts a segment had on each day, and how many entered and left',
    input: { ...SegmentPath, ...rangeParameters },
    output: {
      counting: Type.Boolean({ description: 'Whether members are still being counted; `by_day` is empty until then.' }),
      since: Type.String({ format: 'date-time', description: 'When the segment was created: no day is earlier.' }),
      by_day: Type.Array(SegmentDay),
      past: Type.Array(SegmentPastDay, {
        description:
          "The days before the segment was created, seen from today's members. Empty for a filter on events or on the time, and for more than 100,000 members.",
      }),
    },
    errors: ['400 wrong_entity'],
    async run({ tenant, now }, { segment_id, ...range }) {
      requireEntity(await readSegment(tenant, segment_id), 'contacts')
      const days = daysOf(rangeOf(range, now))
      const { since, byDay } = await segmentGrowth(tenant, segment_id, days)
      return { counting: byDay === null, since, by_day: byDay ?? [], past: await segmentPast(tenant, segment_id, days) }
    },
  }),
  operation({
    name: 'listSegmentChanges',
    tag,
    http: 'GET /v1/segments/:segment_id/changes',
    command: 'segment changes',
    scope: 'segments:read',
    also: [{ scopes: ['contacts:read', 'events:read'] }],
    summary: 'List who entered and left a segment, the latest first, and what happened just before',
    description: 'Contacts that a new or changed filter added or removed record no event, so they are not listed.',
    input: { ...SegmentPath, ...pageParameters(20, 100) },
    output: { changes: Type.Array(SegmentChange), pagination: Pagination },
    errors: ['400 wrong_entity'],
    async run({ tenant }, { segment_id, page, limit }) {
      requireEntity(await readSegment(tenant, segment_id), 'contacts')
      const { changes, total } = await segmentChanges(tenant, segment_id, { page, limit })
      return { changes, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'updateSegment',
    tag,
    http: 'PATCH /v1/segments/:segment_id',
    command: 'segment update',
    scope: 'segments:write',
    also: OF_SEGMENT,
    summary: 'Change the name, the description or the filter of a segment',
    description: 'With another filter, the members are counted again. Contacts that enter or leave record no event.',
    input: {
      ...SegmentPath,
      name: Type.Optional(Name),
      description: Description,
      filter: Type.Optional(Type.Unsafe<unknown>({ ...Filter, 'x-null': 'absent' })),
    },
    output: {
      segment: Segment,
      changed: Changed,
    },
    example: { name: 'Leads in Italy' },
    errors: ['400 segment_circle', '400 unknown_segment'],
    async check(context, { segment_id, filter }) {
      if (filter === undefined) return
      const entity = await entityOf(context.tenant, segment_id)
      await checkFilter(context, entity, filter)
    },
    async run({ tenant, now }, { segment_id, ...changes }) {
      const changed = await updateSegment(tenant, segment_id, changes, now)
      return { segment: await readSegment(tenant, segment_id), changed }
    },
    audit: ({ segment, changed }) =>
      changed.length === 0 ? null : entryOf('segment.updated', segment.segment_id, { changed }),
  }),
  operation({
    name: 'deleteSegment',
    tag,
    http: 'DELETE /v1/segments/:segment_id',
    command: 'segment delete',
    scope: 'segments:write',
    summary: 'Delete a segment; its contacts stay',
    input: SegmentPath,
    output: { deleted: Type.Literal(true), segment_id: Id },
    errors: ['409 segment_in_use'],
    async run({ tenant }, { segment_id }) {
      await deleteSegment(tenant, segment_id)
      return { deleted: true as const, segment_id }
    },
    audit: ({ segment_id }) => entryOf('segment.deleted', segment_id),
  }),
]
