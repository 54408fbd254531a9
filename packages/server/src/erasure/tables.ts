import { CLAIM } from '../platform/postgres/lease.ts'
import type { Tables } from '../platform/postgres/table-rules.ts'

export const ERASURE_TABLES = {
  erasures: {
    key: ['erasure_id'],
    contact: 'followed',
    hasOnlyIds: true,
    // The subject is deleted when the erasure is verified.
    export: { without: ['subject', ...CLAIM] },
  },
} satisfies Tables
