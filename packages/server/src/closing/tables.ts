import type { Tables } from '../platform/postgres/table-rules.ts'

export const CLOSING_TABLES = {
  // The receipts outlive their tenants, and no export has them.
  tenant_deletions: { key: [], export: 'none' },
} satisfies Tables
