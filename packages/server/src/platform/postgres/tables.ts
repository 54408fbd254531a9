import type { Tables } from './table-rules.ts'

export const PLATFORM_TABLES = {
  schema_fingerprint: { key: ['single'] },
  // Which ClickHouse the events of this database are in: see platform/clickhouse.
  installation: { key: ['single'] },
} satisfies Tables
