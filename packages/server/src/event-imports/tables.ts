import type { Tables } from '../platform/postgres/table-rules.ts'

export const EVENT_IMPORT_TABLES = {
  event_imports: { key: ['digest', 'format'], export: 'none' },
} satisfies Tables
