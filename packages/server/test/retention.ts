import { TABLES } from '../src/assembly/tables.ts'
import type { Database } from '../src/platform/postgres/database.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { deleteOldRows } from '../src/platform/postgres/retention.ts'

/** Deletes the old rows of some tables, as the service does every hour. Other files' rows are in the others. */
export async function deleteOldOf(names: readonly (keyof DB)[], database: Database, now: Date): Promise<void> {
  for (const table of TABLES) if (names.includes(table.name)) await deleteOldRows(database, table, now)
}
