import Type from 'typebox'
import { namesEvents } from '../conditions/language.ts'
import { SegmentFilterSchema } from '../conditions/schema.ts'
import { SegmentMember } from '../contacts/contact-object.ts'
import { entryAbout } from '../operations/audit.ts'
import { type Context, type FurtherScopes, idInPath, operation } from '../operations/declare.ts'
import { fieldOf } from '../operations/further-scopes.ts'
import { daysOf, rangeOf, rangeParameters } from '../platform/http/days.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { Changed, Id } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import { warningsAbout } from '../properties/in-conditions.ts'
import { SegmentChange, segmentChanges } from './changes.ts'
import { parseContactFilter } from './contact-filters.ts'
import { backgroundContext } from './events.ts'
import { SegmentDay, SegmentPastDay, segmentGrowth, segmentPast } from './growth.ts'
import { requireAnswerable } from './insight-people.ts'
import { listMembers } from './members.ts'
import { previewSegment } from './preview.ts'
import { Segment } from './segment-object.ts'
import {
  countSegments,
  createSegment,
  deleteSegment,
  listSegments,
  readSegment,
  readSegmentSoFar,
  updateSegment,
} from './segments.ts'

const tag = 'Segments'
const SegmentPath = { segment_id: idInPath('segment') }
const COUNTING =
  'The members of this segment are still being counted, so the list may be incomplete or have extra contacts. Try again shortly.'

const Name = Type.String({ examples: ['Leads in France'] })
const Description = Type.Optional(
  Type.Union([Type.String(), Type.Null()], { 'x-expected': 'a string, or null for none' }),
)
// The filter's parser reports every invalid place in it.
const Filter = { 'x-record': SegmentFilterSchema }
const FILTER_EXAMPLE = { match: 'all', conditions: [{ property: 'country', operator: 'equals', value: 'France' }] }

/** Whoever defines a segment learns how many contacts match its filter, and how many have the events in it. */
const COUNTS_CONTACTS: readonly FurtherScopes[] = [
  { scopes: ['contacts:read'] },
  {
    scopes: ['events:read'],
    when: 'with event conditions in `filter`',
    ofSent: (sent) => namesEvents(fieldOf(sent, 'filter')),
  },
]

const entryOf = entryAbout('segment')

/** What needs events. Outside the transaction, because it may read many. Misspelt names in a filter are no errors. */
async function checkFilter(
  { tenant, now, warn }: Pick<Context, 'tenant' | 'now' | 'warn'>,
  { filter }: { filter?: unknown },
) {
  if (filter === undefined) return
  const parsed = parseContactFilter(filter)
  await requireAnswerable(backgroundContext(tenant, now), parsed)
  for (const warning of await warningsAbout(tenant, 'contacts', parsed)) warn(warning)
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
    also: COUNTS_CONTACTS,
    summary: 'Define a segment; its members are counted in the background',
    input: { name: Name, description: Description, filter: Type.Unsafe<unknown>(Filter) },
    output: { segment: Segment },
    status: 201,
    example: { name: 'Leads in France', filter: FILTER_EXAMPLE },
    errors: ['400 segment_circle', '400 unknown_segment', '409 too_many_segments'],
    check: checkFilter,
    async run({ tenant, now, redaction }, { name, description = null, filter }) {
      const segment = { name, description, filter, visibleOnly: redaction !== undefined }
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
    also: COUNTS_CONTACTS,
    summary: 'Count the contacts that match a filter, without defining a segment',
    input: { filter: Type.Unsafe<unknown>(Filter) },
    output: {
      count: Type.Integer(),
      sample: Type.Array(SegmentMember, { description: 'Some of the matching contacts.' }),
      took_ms: Type.Integer(),
    },
    example: { filter: FILTER_EXAMPLE },
    errors: ['400 preview_too_slow', '400 unknown_segment'],
    reads: true,
    async run({ tenant, now, redaction, warn }, { filter }) {
      const startedAt = performance.now()
      const preview = await previewSegment(tenant, filter, now, redaction !== undefined)
      for (const warning of await warningsAbout(tenant, 'contacts', filter)) warn(warning)
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
    summary: 'List the contacts in a segment',
    input: { ...SegmentPath, ...pageParameters(20, 100) },
    output: {
      segment_name: Type.String(TEXT),
      counting: Type.Boolean({
        description: 'Whether members are still being counted: the list may be incomplete or have extra contacts.',
      }),
      contacts: Type.Array(SegmentMember),
      pagination: Pagination,
    },
    async run({ tenant, warn }, { segment_id, page, limit }) {
      const { segment, found } = await readSegmentSoFar(tenant, segment_id)
      const contacts = await listMembers(tenant, segment_id, { page, limit })
      if (segment.counting) warn(COUNTING)
      const pagination = paginationOf({ page, limit }, found)
      return { segment_name: segment.name, counting: segment.counting, contacts, pagination }
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
    async run({ tenant, now }, { segment_id, ...range }) {
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
    async run({ tenant }, { segment_id, page, limit }) {
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
    also: COUNTS_CONTACTS,
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
    check: checkFilter,
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
