import type { Tables } from '../platform/postgres/table-rules.ts'

export const ENRICHMENT_TABLES = { enrichment_settings: { key: [], export: {} } } satisfies Tables
