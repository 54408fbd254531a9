import type { Selectable } from 'kysely'
import Type from 'typebox'
import { type InsightKind, InsightKindField, QuestionField } from '../insights/kinds.ts'
import { etagOf } from '../operations/etag.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'

/** A field of what can be shared. */
export const SharedAt = Nullable(Timestamp, 'When a link that anybody can read was created; null without one.')

/** A question that is saved under a name. */
export const Report = Type.Object(
  {
    report_id: Id,
    name: Type.String({ examples: ['Sign-ups by country'], ...TEXT }),
    kind: InsightKindField,
    question: QuestionField,
    shared_at: SharedAt,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Report' },
)
export type Report = Type.Static<typeof Report>

export function toReport(row: Selectable<TenantTables['reports']> & { shared_at: Date | null }): Report {
  return {
    report_id: row.report_id,
    name: row.name,
    // Only checked kinds and questions are stored.
    kind: row.kind as InsightKind,
    question: row.question as Report['question'],
    shared_at: row.shared_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

export function etagOfReport({ name, kind, question }: Report): string {
  return etagOf(name, kind, question)
}
