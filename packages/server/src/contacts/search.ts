import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Redaction } from '../operations/declare.ts'
import { normalizeEmail } from '../platform/email.ts'
import { wordsOf } from '../platform/http/query-parameters.ts'
import { containing, contains } from '../platform/postgres/text-filters.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Found, isSeen, type MayName, namesOverlapping } from './visible-texts.ts'

/** The properties that a search compares: those in `search_text`. */
const SEARCHED = ['email', 'firstname', 'lastname', 'company', 'jobtitle'] as const
export type SearchedProperty = (typeof SEARCHED)[number]

/** What is hidden from the caller of a search. */
export interface HiddenFromSearch {
  properties: readonly SearchedProperty[]
  mayName: MayName
}

interface TextFilters {
  search?: string | undefined
  job_title?: string | undefined
}

/** What is hidden from the caller of a search; undefined if nothing is. */
export async function hiddenFromSearch(
  tenant: Tenant,
  redaction: Redaction | undefined,
  { search, job_title: title = '' }: TextFilters,
): Promise<HiddenFromSearch | undefined> {
  if (redaction === undefined) return undefined
  const found = SEARCHED.map(async (property) => ((await redaction.isHidden('contacts', property)) ? [property] : []))
  const mayName = await namesOverlapping(tenant, [...searchedWords(search), title])
  return { properties: (await Promise.all(found)).flat(), mayName }
}

function searchedWords(search: string | undefined): string[] {
  return wordsOf(search).map((word) => (word.includes('@') ? normalizeEmail(word) : word))
}

/**
 * The conditions of a search, and of the filter by job title. Of a hidden property only the whole value counts, because a
 * caller could find a value by its parts.
 */
export function textConditions({
  search,
  job_title: title,
  hidden,
}: TextFilters & { hidden?: HiddenFromSearch }): RawBuilder<SqlBool>[] {
  const words = searchedWords(search)
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

function isVisible(word: string, search: string, hidden: HiddenFromSearch): RawBuilder<SqlBool> {
  // Visible ones first: most searches of an agent are for what it has seen.
  const isHidden = (property: SearchedProperty) => hidden.properties.includes(property)
  const found = SEARCHED.toSorted((one, other) => Number(isHidden(one)) - Number(isHidden(other)))
  return sql`(${sql.join(
    found.map((property) => shows(property, word, search, hidden)),
    sql` OR `,
  )})`
}

/** Whether a property contains a word of a search, or all of a hidden one is in the search. */
function shows(
  property: SearchedProperty,
  word: string,
  search: string,
  { properties, mayName }: HiddenFromSearch,
): RawBuilder<SqlBool> {
  const value = property === 'email' ? sql`email` : sql`properties ->> ${sql.lit(property)}`
  if (properties.includes(property)) return sql`is_whole_in(${value}, ${search}, ${word})`
  return showsText({ table: 'contacts', text: value, part: word, isCompany: property === 'company' }, mayName)
}

/** Whether a text of a record contains a word, as AI agents see it. What is hidden is looked up only in texts that match. */
export function showsText(found: Omit<Found, 'mayName'>, mayName: MayName): RawBuilder<SqlBool> {
  const { text, part } = found
  const shows = (names: RawBuilder<unknown>) =>
    sql<SqlBool>`visible_text(${text}, ${names}) LIKE plain_text(${containing(part)})`
  const seen = isSeen({ ...found, mayName: mayName(part) }, shows)
  return sql`CASE WHEN ${contains(sql`fold_text(${text})`, part)} THEN ${seen} ELSE false END`
}
