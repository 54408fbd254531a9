import type { Selectable } from 'kysely'
import Type from 'typebox'
import type { SegmentFilter } from '../conditions/language.ts'
import { SegmentFilterSchema } from '../conditions/schema.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'

export const Segment = Type.Object(
  {
    segment_id: Id,
    _id: Id,
    name: Type.String({ examples: ['Leads in France'], ...TEXT }),
    description: Nullable(Type.String(TEXT)),
    contact_count: Nullable(Type.Integer({ description: 'null while contacts are being counted.' })),
    counting: Type.Boolean({
      description: 'Whether contacts are still being counted, because the segment is new or its filter changed.',
    }),
    filter: SegmentFilterSchema,
    created_at: Timestamp,
  },
  { title: 'Segment' },
)

type SegmentRow = Pick<
  Selectable<TenantTables['segments']>,
  'segment_id' | 'name' | 'description' | 'filter' | 'evaluated_at' | 'created_at'
> & { contact_count: number }

/** A segment as the API returns it. */
export function toSegmentObject(row: SegmentRow): Type.Static<typeof Segment> {
  return {
    segment_id: row.segment_id,
    _id: row.segment_id,
    name: row.name,
    description: row.description,
    contact_count: row.evaluated_at === null ? null : Number(row.contact_count),
    counting: row.evaluated_at === null,
    filter: row.filter as unknown as SegmentFilter,
    created_at: row.created_at.toISOString(),
  }
}
