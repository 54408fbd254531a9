import type { Tables } from '../../platform/postgres/table-rules.ts'
import { eraseFromNotes } from './erase.ts'

export const NOTE_TABLES = {
  notes: { key: ['note_id'], contact: 'moves', counted: 'notes', erase: eraseFromNotes, export: {} },
} satisfies Tables
