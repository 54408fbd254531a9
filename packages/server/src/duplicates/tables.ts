import type { Tables } from '../platform/postgres/table-rules.ts'
import { moveDismissals } from './dismissals.ts'

export const DUPLICATE_TABLES = {
  // A check of a contact that is gone finds nothing.
  duplicate_checks: { key: ['check_id'], contact: 'followed', hasOnlyIds: true, export: 'none' },
  duplicate_keys: { key: ['contact_id', 'key'], contact: 'dies', export: 'none' },
  // The survivor of a merge is compared anew.
  duplicates: { key: ['duplicate_id'], contact: 'dies', export: 'none' },
  duplicate_dismissals: { key: ['contact_id', 'other_contact_id'], contact: moveDismissals, export: {} },
} satisfies Tables
