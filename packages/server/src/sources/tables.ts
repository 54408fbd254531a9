import type { Tables } from '../platform/postgres/table-rules.ts'
import { KEPT_MS } from './usage.ts'

export const SOURCE_TABLES = {
  sources: { key: ['source_id'], export: {} },
  write_keys: {
    key: ['key_id'],
    export: { without: ['key_hash'] },
    retention: { column: 'expires_at', ms: 0 },
  },
  source_hours: { key: ['source_id', 'hour'], export: {}, retention: { column: 'hour', ms: KEPT_MS } },
} satisfies Tables
