import type { ListAuditLogInput } from '../api/types.ts'
import { pageNumber, searchParams, text } from '../session/search-params.ts'
import type { FilterField } from '../ui/filter-form.tsx'
import { text as catalogue } from './audit-text.ts'

const AUDIT_LENGTH = 50

const labels = catalogue.filters

/** The service's filters of the audit log. */
export const AUDIT_FILTERS: FilterField[] = [
  {
    name: 'actor',
    label: labels.actor,
    kind: 'text',
    description: labels.actorHint,
    suggestions: ['user', 'api_key', 'agent', 'command_line', 'service'],
  },
  {
    name: 'subject_kind',
    label: labels.subjectKind,
    kind: 'choice',
    options: Object.entries(catalogue.kinds).map(([value, label]) => ({ value, label })),
  },
  { name: 'subject_id', label: labels.subjectId, kind: 'text' },
]

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
