import type { Tables } from '../platform/postgres/table-rules.ts'

export const JOURNAL_TABLES = {
  // Both have events of all tenants. Erasures empty them: see erasure/erase-events.ts.
  journal: { key: ['journal_id'] },
  refused_events: { key: ['journal_id', 'line'] },
  event_ids_0: { key: ['key'], export: 'none' },
  event_ids_1: { key: ['key'], export: 'none' },
  event_ids_2: { key: ['key'], export: 'none' },
  event_id_days: { key: ['turn'] },
} satisfies Tables
