import Type from 'typebox'
import { AuditLogEntry, listAudit } from '../audit/list.ts'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { filterText } from '../platform/http/query-parameters.ts'
import { success } from '../platform/http/responses.ts'
import { ADMIN } from './access.ts'

/** The audit log. */
export function auditRoutes(app: App): void {
  app.get(
    '/api/audit',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        querystring: Type.Object({
          ...pageParameters(50, 100),
          subject_kind: filterText('Only of this kind.', 100),
          subject_id: filterText('Only about this.', 200),
          actor: filterText('Only by this person, key or agent, or by this kind of actor.', 200),
        }),
        response: { 200: success({ entries: Type.Array(AuditLogEntry), pagination: Pagination }) },
      },
    },
    async ({ tenant, query: { page = 1, limit = 50, ...filters } }) => {
      const { entries, total } = await listAudit(tenant, filters, { page, limit })
      return { status: 'success' as const, entries, pagination: paginationOf({ page, limit }, total) }
    },
  )
}
