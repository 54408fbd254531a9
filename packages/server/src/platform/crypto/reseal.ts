import { sql } from 'kysely'
import type { Database } from '../postgres/database.ts'
import type { SecretBox } from './secret-box.ts'

const ROWS_AT_ONCE = 200

/** A column with ciphertexts of a secret box. */
export interface SealedColumn {
  table: string
  column: string
  /** The table's primary key. */
  key: readonly string[]
  /** The place that a row's value is bound to, from the columns of `key` and `placedBy` as texts. */
  placedBy?: readonly string[]
  place(row: Record<string, string>): string
}

export interface Resealed {
  table: string
  column: string
  /** Re-encrypted with the first key. */
  resealed: number
  /** Already encrypted with the first key. */
  current: number
  /** Encrypted with an unknown key, or corrupt: left unchanged. */
  unreadable: number
}

type Row = Record<string, string> & { sealed: string }

/**
 * Re-encrypts every value of a column that was encrypted with an older key, a few rows at a time. It can be interrupted
 * and restarted at any point, and does not overwrite concurrent changes.
 */
export async function resealColumn(database: Database, secrets: SecretBox, column: SealedColumn): Promise<Resealed> {
  const counts = { table: column.table, column: column.column, resealed: 0, current: 0, unreadable: 0 }
  let after: string[] | null = null
  for (;;) {
    const rows = await nextRows(database, column, after)
    for (const row of rows) {
      if (secrets.isCurrent(row.sealed)) {
        counts.current++
        continue
      }
      const opened = open(secrets, row.sealed, column.place(row))
      if (opened === null) counts.unreadable++
      else if (await replace(database, column, row, secrets.seal(opened, column.place(row)))) counts.resealed++
    }
    const last = rows.at(-1)
    if (!last) return counts
    after = column.key.map((name) => last[name] ?? '')
  }
}

async function nextRows(
  database: Database,
  { table, column, key, placedBy = [] }: SealedColumn,
  after: readonly string[] | null,
): Promise<Row[]> {
  const names = [...new Set([...key, ...placedBy])]
  const order = sql.join(key.map((name) => sql`${sql.ref(name)}::text`))
  const beyond = after === null ? sql`true` : sql`(${order}) > (${sql.join(after.map((value) => sql`${value}::text`))})`
  const { rows } = await sql<Row>`
    SELECT ${sql.join(names.map((name) => sql`${sql.ref(name)}::text AS ${sql.ref(name)}`))}, ${sql.ref(column)} AS sealed
    FROM ${sql.table(table)}
    WHERE ${sql.ref(column)} IS NOT NULL AND ${beyond}
    ORDER BY ${order}
    LIMIT ${ROWS_AT_ONCE}`.execute(database)
  return rows
}

async function replace(
  database: Database,
  { table, column, key }: SealedColumn,
  row: Row,
  resealed: string,
): Promise<boolean> {
  const isRow = sql.join(
    key.map((name) => sql`${sql.ref(name)}::text = ${row[name]}`),
    sql` AND `,
  )
  const { numAffectedRows } = await sql`
    UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${resealed}
    WHERE ${isRow} AND ${sql.ref(column)} = ${row.sealed}`.execute(database)
  return numAffectedRows === 1n
}

function open(secrets: SecretBox, sealed: string, place: string): string | null {
  try {
    return secrets.open(sealed, place)
  } catch {
    return null
  }
}
