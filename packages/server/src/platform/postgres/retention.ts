import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import type { AnyTable } from './table-rules.ts'

/** Deletes the rows of a table that are too old to be kept. */
export async function deleteOldRows(database: Database, { name, retention }: AnyTable, now: Date): Promise<void> {
  if (retention === undefined) return
  if (typeof retention === 'function') return retention(database, now)
  const tables = database as unknown as Kysely<Record<string, object>>
  const before = new Date(now.getTime() - retention.ms)
  await tables
    .deleteFrom(name)
    .where(sql<boolean>`${sql.ref(`${name}.${retention.column}`)} < ${before}`)
    .execute()
}
