import Type from 'typebox'
import { findAuditEntry, listAudit } from '../operations/audit-list.ts'
import { idInPath, operationsWith } from '../operations/declare.ts'
import { notFound } from '../platform/errors.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { filterId, filterText } from '../platform/http/query-parameters.ts'
import { type AuditServices, NamedAuditEntry, withSubjectNames } from './subjects.ts'

const operation = operationsWith<AuditServices>()

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
      subject_id: filterId('Only entries about this subject.'),
      actor: filterId('Only entries of this actor: the id of a person, key or agent, or a kind of actor.'),
    },
    output: { entries: Type.Array(NamedAuditEntry), pagination: Pagination },
    async run({ tenant, ...services }, { page, limit, ...filters }) {
      const { entries, total } = await listAudit(tenant, filters, { page, limit })
      return {
        entries: await withSubjectNames(tenant, services, entries),
        pagination: paginationOf({ page, limit }, total),
      }
    },
  }),
  operation({
    name: 'getAuditEntry',
    tag: 'Audit log',
    http: 'GET /v1/audit-log/:entry_id',
    command: 'audit get',
    scope: 'audit:read',
    summary: 'Get an entry of the audit log',
    input: { entry_id: idInPath('audit entry') },
    output: { entry: NamedAuditEntry },
    async run({ tenant, ...services }, { entry_id }) {
      const found = await findAuditEntry(tenant, entry_id)
      const [entry] = await withSubjectNames(tenant, services, found ? [found] : [])
      if (!entry) throw notFound('audit entry')
      return { entry }
    },
  }),
]
