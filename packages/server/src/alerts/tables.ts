import { CLAIM } from '../platform/postgres/lease.ts'
import type { Tables } from '../platform/postgres/table-rules.ts'

export const ALERT_TABLES = { alerts: { key: ['alert_id'], export: { without: CLAIM } } } satisfies Tables
