import Type from 'typebox'
import { SegmentMember } from '../contacts/contact-object.ts'
import { validationError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { daysOf, rangeOf, rangeParameters } from '../platform/http/days.ts'
import { Id, Nullable, pathId, success } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { segmentGrowth } from '../segments/growth.ts'
import { previewSegment } from '../segments/preview.ts'
import { Segment } from '../segments/segment-object.ts'
import { createSegment, deleteSegment, readSegment, updateSegment } from '../segments/segments.ts'
import { suggestValues } from '../segments/suggestions.ts'
import { MEMBER, VIEWER } from './access.ts'
import { audited } from './audited.ts'

const Path = Type.Object({ segment_id: Type.String() })
const OneSegment = success({ segment: Segment })
// What is wrong in a filter is said by its parser, which names every place.
const Filter = Type.Unsafe<unknown>({})
const OptionalFilter = Type.Unsafe<unknown>({ 'x-null': 'absent' })
const Description = Type.Union([Type.String(), Type.Null()], { 'x-expected': 'a text, or null for none' })

const CreateBody = Type.Object(
  { name: Type.String(), description: Type.Optional(Description), filter: Filter },
  { additionalProperties: false },
)
const UpdateBody = Type.Object(
  {
    name: Type.Optional(Type.String()),
    description: Type.Optional(Description),
    filter: Type.Optional(OptionalFilter),
  },
  { additionalProperties: false },
)
const PreviewBody = Type.Object({ filter: Filter }, { additionalProperties: false })

const Suggestion = Type.Object({
  value: Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
  label: Nullable(Type.String()),
  count: Type.Integer(),
})
const Day = Type.Object({
  date: Type.String(),
  count: Type.Integer(),
  entered: Type.Integer(),
  exited: Type.Integer(),
})

/** Segments: define, change, delete; count while a filter is being written, values to choose from, growth. */
export function segmentBuilderRoutes(app: App, { clock }: { clock: Clock }): void {
  app.post(
    '/api/segments',
    { config: { access: MEMBER }, schema: { hide: true, body: CreateBody, response: { 201: OneSegment } } },
    async (request, reply) => {
      const now = clock()
      const { name, description = null, filter } = request.body
      const { segmentId } = await audited(
        request,
        now,
        (tx) => createSegment(tx, { name, description, filter }, now),
        (made) => ({ ...entryOf('segment.created', made.segmentId), details: { name } }),
      )
      return reply.code(201).send({ status: 'success', segment: await readSegment(request.tenant, segmentId) })
    },
  )

  app.put(
    '/api/segments/:segment_id',
    {
      config: { access: MEMBER },
      schema: { hide: true, params: Path, body: UpdateBody, response: { 200: OneSegment } },
    },
    async (request) => {
      const now = clock()
      const segmentId = pathId(request.params.segment_id, 'segment')
      const changes = request.body
      await audited(
        request,
        now,
        (tx) => updateSegment(tx, segmentId, changes, now),
        (changed) => (changed.length > 0 ? { ...entryOf('segment.updated', segmentId), details: { changed } } : null),
      )
      return { status: 'success' as const, segment: await readSegment(request.tenant, segmentId) }
    },
  )

  app.delete(
    '/api/segments/:segment_id',
    {
      config: { access: MEMBER },
      schema: {
        hide: true,
        params: Path,
        response: { 200: success({ deleted: Type.Literal(true), segment_id: Id }) },
      },
    },
    async (request) => {
      const segmentId = pathId(request.params.segment_id, 'segment')
      await audited(
        request,
        clock(),
        (tx) => deleteSegment(tx, segmentId),
        () => entryOf('segment.deleted', segmentId),
      )
      return { status: 'success' as const, deleted: true as const, segment_id: segmentId }
    },
  )

  app.post(
    '/api/segments/preview',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        body: PreviewBody,
        response: {
          200: success({ count: Type.Integer(), sample: Type.Array(SegmentMember), took_ms: Type.Integer() }),
        },
      },
    },
    async ({ tenant, body }) => {
      const startedAt = performance.now()
      const preview = await previewSegment(tenant, body.filter, clock())
      return { status: 'success' as const, ...preview, took_ms: Math.round(performance.now() - startedAt) }
    },
  )

  app.get(
    '/api/segments/suggestions',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        querystring: Type.Object({
          property: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
          q: Type.Optional(Type.String({ maxLength: 200 })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
        }),
        response: { 200: success({ values: Type.Array(Suggestion) }) },
      },
    },
    async ({ tenant, query: { property, q = '', limit = 20 } }) => {
      if (property === undefined) throw validationError([{ path: 'property', message: 'is required' }])
      return { status: 'success' as const, values: await suggestValues(tenant, property, q, limit, clock()) }
    },
  )

  app.get(
    '/api/segments/:segment_id/growth',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        params: Path,
        querystring: Type.Object(rangeParameters),
        response: { 200: success({ counting: Type.Boolean(), by_day: Type.Array(Day) }) },
      },
    },
    async ({ tenant, params, query }) => {
      const days = daysOf(rangeOf(query, clock()))
      const byDay = await segmentGrowth(tenant, pathId(params.segment_id, 'segment'), days)
      return { status: 'success' as const, counting: byDay === null, by_day: byDay ?? [] }
    },
  )
}

function entryOf(action: string, segmentId: string) {
  return { action, subjectKind: 'segment', subjectId: segmentId }
}
