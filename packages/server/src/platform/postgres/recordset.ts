import { type AliasedRawBuilder, sql } from 'kysely'

type Type = 'uuid' | 'text' | 'jsonb' | 'json' | 'timestamptz' | 'integer' | 'boolean'

/**
 * Rows as a table in a statement. They are a single parameter, so that neither the statement nor its plan grows with
 * their number. @param columns the columns that the statement uses; others are ignored.
 */
export function recordset<Row extends object, Alias extends string, Column extends keyof Row & string>(
  rows: readonly Row[],
  alias: Alias,
  columns: Readonly<Record<Column, Type>>,
): AliasedRawBuilder<Pick<Row, Column>, Alias> {
  const definitions = Object.entries(columns).map(([name, type]) => `${name} ${type}`)
  const records = sql<Pick<Row, Column>>`json_to_recordset(${JSON.stringify(rows)}::json)`
  return records.as<Alias>(sql.raw(`${alias}(${definitions.join(', ')})`))
}
