import { readFileSync } from 'node:fs'
import type { Migration } from 'kysely'
import { createSchema, schemaOf } from '../platform/postgres/schema.ts'

/** The files of the baseline: each has the tables of its folder, after the tables that it references. */
const BASELINE = [
  'platform/postgres/tables.sql',
  'platform/postgres/functions.sql',
  'platform/clickhouse/tables.sql',
  'journal/tables.sql',
  'access/tables.sql',
  'operations/tables.sql',
  // Before the tables whose triggers call its function.
  'computed/tables.sql',
  'companies/tables.sql',
  'contacts/tables.sql',
  'sources/tables.sql',
  'enrichment/tables.sql',
  'hooks/tables.sql',
  'contacts/notes/tables.sql',
  'contacts/visitors/tables.sql',
  'owners/tables.sql',
  'identification/tables.sql',
  'segments/tables.sql',
  'memberships/tables.sql',
  'duplicates/tables.sql',
  'webhooks/tables.sql',
  'providers/tables.sql',
  'identities/tables.sql',
  'conversations/tables.sql',
  'connectors/tables.sql',
  'agents/tables.sql',
  'overview/tables.sql',
  'reports/tables.sql',
  'alerts/tables.sql',
  'erasure/tables.sql',
  'imports/tables.sql',
  'event-imports/tables.sql',
  'tenant-export/tables.sql',
  'warehouse/tables.sql',
  'sites/problems/tables.sql',
  'closing/tables.sql',
]

/** What this version creates in an empty database, and expects in any other. */
export const SCHEMA = schemaOf(
  BASELINE.map((file) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).join('\n'),
)

/**
 * The schema of PostgreSQL, step by step. Nothing has been released yet, so the first step creates the current tables; a
 * released step never changes: see docs/decisions/0021-one-baseline.md.
 */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-baseline': { up: (db) => createSchema(db, SCHEMA) },
}
