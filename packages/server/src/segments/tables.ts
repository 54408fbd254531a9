import { CLAIM } from '../platform/postgres/lease.ts'
import type { Tables } from '../platform/postgres/table-rules.ts'
import { eraseFromSegments } from './erase.ts'

export const SEGMENT_TABLES = {
  segments: { key: ['segment_id'], export: { without: CLAIM } },
  segment_silent_changes: { key: ['segment_id', 'day'], export: {} },
  // A check of a contact that is gone is deleted when it is due.
  segment_checks: { key: ['contact_id'], contact: 'followed', erase: eraseFromSegments, export: 'none' },
  segment_met_conditions: {
    key: ['contact_id', 'match_key'],
    contact: 'dies',
    erasedWith: 'segment_checks',
    export: 'none',
  },
  segment_unused_matches: { key: ['match_key'], export: 'none' },
} satisfies Tables
