import type { Tables } from '../platform/postgres/table-rules.ts'

export const COMPANY_TABLES = {
  companies: {
    key: ['company_id'],
    company: 'dies',
    export: { without: ['facets', 'search_text', 'sort_name'] },
  },
  company_changes: { key: ['company_id'], company: 'dies', export: 'none' },
  // A check of a company that is gone finds nothing.
  company_checks: { key: ['check_id'], company: 'stays', export: 'none' },
  company_sources: { key: ['source', 'external_id'], company: 'dies', export: {} },
} satisfies Tables
