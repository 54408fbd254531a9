import { type ExpressionBuilder, sql } from 'kysely'
import type { TenantTables } from '../platform/postgres/database.ts'

/** A column `segment_ids` for a query of contacts: the segments of each, sorted by id. */
export function segmentIds(from: ExpressionBuilder<TenantTables, 'contacts'>) {
  return from
    .selectFrom('segment_members')
    .select(
      sql<string[]>`coalesce(array_agg(segment_members.segment_id ORDER BY segment_members.segment_id), '{}')`.as(
        'ids',
      ),
    )
    .whereRef('segment_members.contact_id', '=', 'contacts.contact_id')
    .$asScalar()
    .$notNull()
    .as('segment_ids')
}
