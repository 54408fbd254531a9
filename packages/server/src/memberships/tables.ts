import type { Tables } from '../platform/postgres/table-rules.ts'

export const MEMBERSHIP_TABLES = {
  segment_members: {
    key: ['segment_id', 'contact_id'],
    contact: 'dies',
    counted: 'segment_memberships',
    export: {},
  },
  company_segment_members: { key: ['segment_id', 'company_id'], company: 'dies', export: {} },
  segment_counts: { key: ['segment_id', 'counter'], export: 'none' },
} satisfies Tables
