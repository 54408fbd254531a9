import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { firstCharacters, hasFewerCharacters } from '../characters.ts'

/** A facet holds the beginning of a value; see the migrations. */
const FACET_VALUE_LENGTH = 200

/** Whether folded text contains a text, in any case and spelling; ClickHouse's `containsFolded` says the same. */
export function contains(foldedText: RawBuilder<unknown>, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${foldedText} LIKE fold_text(${containing(text)})`
}

/** A LIKE pattern in which the caller's `%`, `_` and `\` mean themselves. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** Stored times have microseconds where the database made them; a bound of a millisecond includes all of it. */
export function endOfMillisecond(date: Date): string {
  return date.toISOString().replace('Z', '999Z')
}

/**
 * Conditions for filters that compare a property exactly. Each is an element of the column `facets`, so that one index
 * look-up answers all of them together.
 * @param keys the property that each filter compares, by the filter's name.
 */
export function exactFacets<Keys extends Readonly<Record<string, string>>>(
  keys: Keys,
  filters: { readonly [Name in keyof Keys]?: string },
) {
  const asked = Object.entries(keys).flatMap(([name, key]) => {
    const value: string | undefined = filters[name]
    return value === undefined ? [] : [{ key, value }]
  })
  if (asked.length === 0) return []
  const facets = asked.map(({ key, value }) => `${key}=${firstCharacters(value, FACET_VALUE_LENGTH)}`)
  // Of a long value the rest is compared too.
  const long = asked.filter(({ value }) => !hasFewerCharacters(value, FACET_VALUE_LENGTH))
  return [
    sql<SqlBool>`facets @> ${facets}::text[]`,
    ...long.map(({ key, value }) => sql<SqlBool>`properties ->> ${key} = ${value}`),
  ]
}
