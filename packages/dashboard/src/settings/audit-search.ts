import type { Query } from '../api/client.ts'
import { pageNumber, searchParams, text } from '../app/search-params.ts'
import type { FilterField } from '../ui/filter-form.tsx'

const AUDIT_LENGTH = 50

const SUBJECTS = ['agent', 'api_key', 'contact', 'domain', 'export', 'invitation', 'member', 'segment', 'webhook']

/** The service's filters of the audit log. */
export const AUDIT_FILTERS: FilterField[] = [
  {
    name: 'actor',
    label: 'Who',
    kind: 'text',
    description: 'The id of a person, key or agent; or a kind: user, api_key, agent, command_line, service.',
    suggestions: ['user', 'api_key', 'agent', 'command_line', 'service'],
  },
  { name: 'subject_kind', label: 'Subject type', kind: 'text', suggestions: SUBJECTS },
  { name: 'subject_id', label: 'Subject id', kind: 'text' },
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
export function toAuditQuery({ entry: _open, ...search }: AuditSearch): Query & { page: number; limit: number } {
  return { ...search, page: search.page ?? 1, limit: AUDIT_LENGTH }
}
