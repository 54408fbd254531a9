import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { NamedAuditEntry } from '../../../server/src/audit/subjects.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, type Query } from './client.ts'

export type AuditLogEntry = NamedAuditEntry

/** One page of the audit log, newest first. */
export const auditQuery = (query: Query) =>
  queryOptions({
    queryKey: ['audit', query],
    queryFn: ({ signal }) =>
      get<{ entries: AuditLogEntry[]; pagination: Type.Static<typeof Pagination> }>('/v1/audit-log', query, signal),
    placeholderData: keepPreviousData,
  })
