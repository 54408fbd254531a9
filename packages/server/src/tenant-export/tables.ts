import type { Tables } from '../platform/postgres/table-rules.ts'

export const EXPORT_TABLES = {
  exports: { key: ['export_id'], export: 'none' },
} satisfies Tables
