import type { Selectable } from 'kysely'
import Type from 'typebox'
import type { SegmentFilter } from '../conditions/language.ts'
import { SegmentFilterSchema } from '../conditions/schema.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Entity } from './named-segments.ts'

const ENTITIES = ['contacts', 'companies'] as const
const EntityOfSegment = Type.Enum(ENTITIES, { description: 'What the members are. It cannot be changed.' })
/** Of a new segment, or of a filter without one. */
export const EntityInput = Type.Optional(
  Type.Enum(ENTITIES, { description: 'What the filter selects; `contacts` by default.' }),
)

export const Segment = Type.Object(
  {
    segment_id: Id,
    _id: Id,
    name: Type.String({ examples: ['Leads in France'], ...TEXT }),
    description: Nullable(Type.String(TEXT)),
    entity: EntityOfSegment,
    contact_count: Nullable(
      Type.Integer({ description: 'null while contacts are being counted, and of a segment of companies.' }),
    ),
    company_count: Nullable(
      Type.Integer({ description: 'null while companies are being counted, and of a segment of contacts.' }),
    ),
    counting: Type.Boolean({
      description: 'Whether members are still being counted, because the segment is new or its filter changed.',
    }),
    filter: SegmentFilterSchema,
    created_at: Timestamp,
  },
  { title: 'Segment' },
)

type SegmentRow = Pick<
  Selectable<TenantTables['segments']>,
  'segment_id' | 'entity' | 'name' | 'description' | 'filter' | 'evaluated_at' | 'created_at'
> & { member_count: number }

/** A segment as the API returns it. */
export function toSegmentObject(row: SegmentRow): Type.Static<typeof Segment> {
  const count = row.evaluated_at === null ? null : Number(row.member_count)
  const entity = row.entity as Entity
  return {
    segment_id: row.segment_id,
    _id: row.segment_id,
    name: row.name,
    description: row.description,
    entity,
    contact_count: entity === 'contacts' ? count : null,
    company_count: entity === 'companies' ? count : null,
    counting: row.evaluated_at === null,
    filter: row.filter as unknown as SegmentFilter,
    created_at: row.created_at.toISOString(),
  }
}
