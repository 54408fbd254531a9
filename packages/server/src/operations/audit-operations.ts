import Type from 'typebox'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { filterText } from '../platform/http/query-parameters.ts'
import { AuditLogEntry, listAudit } from './audit-list.ts'
import { operation } from './declare.ts'

export const AUDIT_OPERATIONS = [
  operation({
    name: 'listAuditLog',
    tag: 'Audit log',
    http: 'GET /v1/audit-log',
    command: 'audit list',
    scope: 'audit:read',
    summary: 'List the entries of the audit log, newest first',
    input: {
      ...pageParameters(50, 100),
      subject_kind: filterText('Only entries about subjects of this kind.', 100),
      subject_id: filterText('Only entries about this subject.', 200),
      actor: filterText('Only entries of this person, key or agent (an id), or of this kind of actor.', 200),
    },
    output: { entries: Type.Array(AuditLogEntry), pagination: Pagination },
    async run({ tenant }, { page = 1, limit = 50, ...filters }) {
      const { entries, total } = await listAudit(tenant, filters, { page, limit })
      return { entries, pagination: paginationOf({ page, limit }, total) }
    },
  }),
]
