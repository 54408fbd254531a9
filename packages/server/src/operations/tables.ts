import type { Tables } from '../platform/postgres/table-rules.ts'
import { deleteOldIdempotencyKeys, eraseResponses, responsePlace } from './idempotency.ts'

export const OPERATION_TABLES = {
  audit_log: { key: ['entry_id'], export: {} },
  idempotency_keys: {
    key: ['caller', 'key'],
    erase: eraseResponses,
    export: 'none',
    retention: deleteOldIdempotencyKeys,
    sealed: {
      response_sealed: ({ tenant_id = '', caller = '', key = '' }) => responsePlace(tenant_id, caller, key),
    },
  },
  idempotency_usage: { key: ['caller'], export: 'none' },
} satisfies Tables
