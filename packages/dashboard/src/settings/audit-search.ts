import type { ListAuditLogInput } from '../api/types.ts'
import { pageNumber, searchParams, text } from '../session/search-params.ts'

const AUDIT_LENGTH = 50

export const auditSearch = searchParams({
  page: pageNumber,
  actor: text,
  subject_kind: text,
  subject_id: text,
  // The entry that is open.
  entry: text,
})

export type AuditSearch = ReturnType<typeof auditSearch>

/** The query to the service for an address of the log. */
export function toAuditQuery({
  entry: _open,
  ...search
}: AuditSearch): ListAuditLogInput & { page: number; limit: number } {
  return { ...search, page: search.page ?? 1, limit: AUDIT_LENGTH }
}
