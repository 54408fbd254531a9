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

/** The mark of a row that was not moved, because the survivor has one with the same key. */
const SHARED = { shared: 'true' }

async function moveByContactId(
  tx: Tenant,
  { name, key }: AnyTable,
  { from, to }: Move,
  only: readonly MovedKey[] | undefined,
): Promise<MovedKey[]> {
  // The tenant is added to these queries like to any other.
  const db = tx.db as unknown as Kysely<AnyTables>
  const columns = key.filter((column) => column !== 'contact_id')
  const isOneOf = (keys: readonly MovedKey[]) => {
    const types = Object.fromEntries(columns.map((column) => [column, 'text'] as const))
    const listed = db.selectFrom(recordset(keys as Record<string, string>[], 'listed', types)).select(columns)
    const own = columns.map((column) => sql`${sql.ref(`${name}.${column}`)}::text`)
    return sql<boolean>`(${sql.join(own)}) IN ${listed}`
  }
  const moving = db.updateTable(name).set({ contact_id: to }).where('contact_id', '=', from)
  if (columns.length === key.length) {
    const query = only ? moving.where(isOneOf(only)) : moving
    return query.returning(columns).execute()
  }
  // The contact is part of the key, so the survivor may have the same row already.
  if (only) {
    const [shared, moved] = [true, false].map((isShared) =>
      only.filter((each) => 'shared' in Object(each) === isShared),
    )
    if (moved?.length) await moving.where(isOneOf(moved)).execute()
    if (!shared?.length) return []
    const rows = await db.selectFrom(name).selectAll().where('contact_id', '=', from).where(isOneOf(shared)).execute()
    const copies = rows.map(({ tenant_id: _, ...row }) => ({ ...row, contact_id: to }))
    if (copies.length > 0) await db.insertInto(name).values(copies).execute()
    return []
  }
  const known = await db.selectFrom(name).select(columns).where('contact_id', '=', to).execute()
  const isKnown = isOneOf(known)
  const shared = await db.deleteFrom(name).where('contact_id', '=', from).where(isKnown).returning(columns).execute()
  const moved = await moving.returning(columns).execute()
  return [...moved, ...shared.map((row) => ({ ...row, ...SHARED }))]
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
