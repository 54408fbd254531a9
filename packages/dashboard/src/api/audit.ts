import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { AuditLogEntry, ListAuditLogInput } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { AuditLogEntry, ListAuditLogInput }

/** One page of the audit log, newest first. */
export const auditQuery = (query: ListAuditLogInput) =>
  queryOptions({
    queryKey: ['audit', query],
    queryFn: ({ signal }) => call('listAuditLog', query, signal),
    placeholderData: keepPreviousData,
  })
