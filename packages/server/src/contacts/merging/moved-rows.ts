import { type Kysely, sql } from 'kysely'
import { recordset } from '../../platform/postgres/recordset.ts'
import type { AnyTable, Move, MovedKey } from '../../platform/postgres/table-rules.ts'
import type { Tenant } from '../../platform/tenant.ts'

/** The keys of the rows that a merge moved to the survivor, by table. An unmerge moves them back unless they moved on since. */
export type Moved = Record<string, readonly MovedKey[]>

/** Moves the rows of every table whose rows follow a contact. @param only at an unmerge: those that the merge moved. */
export async function moveRows(
  tx: Tenant,
  { tables }: { tables: readonly AnyTable[] },
  move: Move,
  only?: Moved,
): Promise<Moved> {
  const moved: Moved = {}
  for (const table of tables) {
    const { name, contact } = table
    const those = only && (only[name] ?? [])
    if (contact === 'moves') moved[name] = await moveByContactId(tx, table, move, those)
    else if (typeof contact === 'function') moved[name] = await contact(tx, move, those)
  }
  return moved
}

type AnyTables = Record<string, Record<string, string>>

async function moveByContactId(
  tx: Tenant,
  { name, key }: AnyTable,
  { from, to }: Move,
  only: readonly MovedKey[] | undefined,
): Promise<MovedKey[]> {
  // The tenant is added to this query like to any other.
  const db = tx.db as unknown as Kysely<AnyTables>
  const columns = key.map((column) => sql`${sql.ref(`${name}.${column}`)}::text`)
  let query = db.updateTable(name).set({ contact_id: to }).where('contact_id', '=', from)
  if (only) {
    const types = Object.fromEntries(key.map((column) => [column, 'text'] as const))
    const those = db.selectFrom(recordset(only as Record<string, string>[], 'moved', types)).select([...key])
    query = query.where(sql<boolean>`(${sql.join(columns)}) IN ${those}`)
  }
  return query.returning([...key]).execute()
}

/** Lets the contacts that were merged into one lead to another. @param only those that go back at an unmerge. */
export async function moveMerges(
  tx: Tenant,
  { from, to }: Pick<Move, 'from' | 'to'>,
  only?: readonly string[],
): Promise<string[]> {
  let query = tx.db.updateTable('contact_merges').set({ survivor_id: to }).where('survivor_id', '=', from)
  if (only) query = query.where('contact_id', '=', sql<string>`any(${only}::uuid[])`)
  const rows = await query.returning('contact_id').execute()
  return rows.map(({ contact_id }) => contact_id)
}
