import type { Tables } from '../platform/postgres/table-rules.ts'

export const OVERVIEW_TABLES = {
  saved_views: { key: ['view_id'], export: {} },
} satisfies Tables
