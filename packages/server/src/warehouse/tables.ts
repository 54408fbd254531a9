import { CLAIM } from '../platform/postgres/lease.ts'
import type { Tables } from '../platform/postgres/table-rules.ts'
import { secretPlace } from './destination.ts'

export const WAREHOUSE_TABLES = {
  warehouse_destinations: {
    key: ['destination_id'],
    export: {},
    sealed: { secret_sealed: ({ tenant_id = '', destination_id = '' }) => secretPlace(tenant_id, destination_id) },
  },
  warehouse_runs: { key: ['run_id'], export: { without: CLAIM } },
  warehouse_files: { key: ['run_id', 'number'], export: 'none' },
} satisfies Tables
