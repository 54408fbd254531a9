import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Redaction } from '../operations/declare.ts'
import { normalizeEmail } from '../platform/email.ts'
import { wordsOf } from '../platform/http/query-parameters.ts'
import { containing, contains } from '../platform/postgres/text-filters.ts'
import { namesHiddenIn } from './columns.ts'

/** The properties that a search compares: those in `search_text`. */
const SEARCHED = ['email', 'firstname', 'lastname', 'company', 'jobtitle'] as const
export type SearchedProperty = (typeof SEARCHED)[number]

/** The searched properties whose values are hidden from a caller; undefined if nothing is. */
export async function hiddenFromSearch(redaction: Redaction | undefined): Promise<SearchedProperty[] | undefined> {
  if (redaction === undefined) return undefined
  const found = SEARCHED.map(async (property) => ((await redaction.isHidden('contacts', property)) ? [property] : []))
  return (await Promise.all(found)).flat()
}

interface TextFilters {
  search?: string
  job_title?: string
  hidden?: readonly SearchedProperty[]
}

/**
 * The conditions of a search, and of the filter by job title. Of a hidden property only the whole value counts, because a
 * caller could find a value by its parts.
 */
export function textConditions({ search, job_title: title, hidden }: TextFilters): RawBuilder<SqlBool>[] {
  const words = wordsOf(search).map((word) => (word.includes('@') ? normalizeEmail(word) : word))
  // The first condition on `search_text` uses the index; others are exact.
  const conditions = words.map((word) => contains(sql`search_text`, word))
  if (hidden !== undefined) conditions.push(...words.map((word) => isVisible(word, words.join(' '), hidden)))
  if (title === undefined) return conditions
  const ofTitle =
    hidden === undefined
      ? contains(sql`fold_text(properties ->> 'jobtitle')`, title)
      : shows('jobtitle', title, title, hidden)
  return [...conditions, contains(sql`search_text`, title), ofTitle]
}

function isVisible(word: string, search: string, hidden: readonly SearchedProperty[]): RawBuilder<SqlBool> {
  const found = SEARCHED.map((property) => shows(property, word, search, hidden))
  return sql`(${sql.join(found, sql` OR `)})`
}

/** Whether a property contains a word of a search, or all of a hidden one is in the search. */
function shows(
  property: SearchedProperty,
  word: string,
  search: string,
  hidden: readonly SearchedProperty[],
): RawBuilder<SqlBool> {
  const value = property === 'email' ? sql`email` : sql`properties ->> ${sql.lit(property)}`
  if (hidden.includes(property)) return sql`is_whole_in(${value}, ${search}, ${word})`
  return showsText('contacts', value, word)
}

/** Whether a text of a record contains a word, as AI agents see it. What is hidden is looked up only in texts that match. */
export function showsText(
  table: 'contacts' | 'companies',
  text: RawBuilder<unknown>,
  word: string,
): RawBuilder<SqlBool> {
  const pattern = sql`fold_text(${containing(word)})`
  return sql`CASE WHEN fold_text(${text}) LIKE ${pattern}
    THEN visible_text(${text}, ${namesHiddenIn(table, text)}) LIKE ${pattern} ELSE false END`
}
