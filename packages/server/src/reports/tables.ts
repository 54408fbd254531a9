import type { Tables } from '../platform/postgres/table-rules.ts'

export const REPORT_TABLES = {
  reports: { key: ['report_id'], export: {} },
  dashboards: { key: ['dashboard_id'], export: {} },
} satisfies Tables
