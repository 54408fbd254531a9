import { CLAIM } from '../platform/postgres/lease.ts'
import type { Tables } from '../platform/postgres/table-rules.ts'
import { eraseFromImports } from './expire.ts'

export const IMPORT_TABLES = {
  imports: { key: ['import_id'], export: { without: CLAIM } },
  import_mappings: { key: ['shape'], export: {} },
  import_chunks: { key: ['import_id', 'chunk_id'], export: 'none' },
  import_failed_rows: { key: ['import_id', 'row'], export: 'none' },
  import_changes: {
    key: ['import_id', 'position'],
    contact: 'followed',
    erase: eraseFromImports,
    export: 'none',
  },
  import_companies: { key: ['import_id', 'company_id'], company: 'stays', export: 'none' },
} satisfies Tables
