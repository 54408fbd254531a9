import type { Tables } from '../platform/postgres/table-rules.ts'

export const COMPUTED_TABLES = {
  computed_properties: { key: ['computed_property_id'], export: { without: ['fill_after', 'filled_to'] } },
  // A check of a record that is gone finds nothing.
  computed_checks: { key: ['check_id'], hasOnlyIds: true, export: 'none' },
  computed_expirations: { key: ['entity', 'record_id'], hasOnlyIds: true, export: 'none' },
} satisfies Tables
