import Type from 'typebox'
import { SegmentMember } from '../contacts/contact-object.ts'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { pathId, success } from '../platform/http/responses.ts'
import { listMembers } from './members.ts'
import { Segment } from './segment-object.ts'
import { countSegments, listSegments, readSegment, readSegmentSoFar } from './segments.ts'

const COUNTING =
  'The members of this segment are still being counted, so the list may be incomplete or have extra contacts. Try again shortly.'

const Path = Type.Object({ segment_id: Type.String() })

/** Segments: list them, read one, list its members. */
export function segmentRoutes(app: App): void {
  app.get(
    '/v1/segments',
    {
      config: { access: 'segments:read' },
      schema: {
        operationId: 'listSegments',
        summary: 'List segments',
        tags: ['Segments'],
        querystring: Type.Object(pageParameters(50, 100)),
        response: { 200: success({ segments: Type.Array(Segment), pagination: Pagination }) },
      },
    },
    async ({ tenant, query }) => {
      const { page = 1, limit = 50 } = query
      const [segments, total] = await Promise.all([listSegments(tenant, { page, limit }), countSegments(tenant)])
      return { status: 'success' as const, segments, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.get(
    '/v1/segments/:segment_id',
    {
      config: { access: 'segments:read' },
      schema: {
        operationId: 'getSegment',
        summary: 'Get a segment, without its members',
        tags: ['Segments'],
        params: Path,
        response: { 200: success({ segment: Segment }) },
      },
    },
    async ({ tenant, params }) => {
      const segment = await readSegment(tenant, pathId(params.segment_id, 'segment'))
      return { status: 'success' as const, segment }
    },
  )

  app.get(
    '/v1/segments/:segment_id/contacts',
    {
      config: { access: 'segments:read' },
      schema: {
        operationId: 'listSegmentContacts',
        summary: 'List the contacts in a segment',
        tags: ['Segments'],
        params: Path,
        querystring: Type.Object(pageParameters(20, 100)),
        response: {
          200: success({
            segment_name: Type.String(),
            counting: Type.Boolean({
              description:
                'Whether members are still being counted: the list may be incomplete or have extra contacts.',
            }),
            contacts: Type.Array(SegmentMember),
            pagination: Pagination,
          }),
        },
      },
    },
    async ({ tenant, params, query, warnings }) => {
      const { page = 1, limit = 20 } = query
      const segmentId = pathId(params.segment_id, 'segment')
      const { segment, found } = await readSegmentSoFar(tenant, segmentId)
      const contacts = await listMembers(tenant, segmentId, { page, limit })
      if (segment.counting) warnings.push(COUNTING)
      return {
        status: 'success' as const,
        segment_name: segment.name,
        counting: segment.counting,
        contacts,
        pagination: paginationOf({ page, limit }, found),
      }
    },
  )
}
