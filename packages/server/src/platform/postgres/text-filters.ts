import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { firstCharacters, hasFewerCharacters } from '../characters.ts'

/** A facet contains the beginning of a value; see `facets` in contacts/tables.sql. */
const FACET_VALUE_LENGTH = 200

/** Whether folded text contains a text, ignoring case and spelling, like ClickHouse's `containsFolded`. */
export function contains(foldedText: RawBuilder<unknown>, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${foldedText} LIKE fold_text(${containing(text)})`
}

/** LIKE patterns with the caller's `%`, `_` and `\` escaped. */
export const containing = (text: string) => `%${escaped(text)}%`
export const startingWith = (text: string) => `${escaped(text)}%`
export const endingWith = (text: string) => `%${escaped(text)}`

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

/** Times set by the database have microseconds; a bound in milliseconds includes the whole millisecond. */
export function endOfMillisecond(date: Date): string {
  return date.toISOString().replace('Z', '999Z')
}

/**
 * Conditions for exact-match filters. Each is an element of the column `facets`, so that one index look-up serves all
 * of them.
 * @param keys the property of each filter, by the filter's name.
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
  // For a long value, the rest is compared too.
  const long = asked.filter(({ value }) => !hasFewerCharacters(value, FACET_VALUE_LENGTH))
  return [
    sql<SqlBool>`facets @> ${facets}::text[]`,
    ...long.map(({ key, value }) => sql<SqlBool>`properties ->> ${key} = ${value}`),
  ]
}
