import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { containing, contains } from '../platform/postgres/text-filters.ts'
import type { Tenant } from '../platform/tenant.ts'

/*
 * Searches for a caller from whom personal values are hidden: only what AI agents see of a text is found by its parts.
 * Removing names from a text costs twenty times as much as comparing it, so only texts that may hide the match are checked
 * again.
 */

/** Whether the names of any two contacts may overlap with a text that is searched for. */
export type MayName = (part: string) => boolean

export interface Found {
  table: 'contacts' | 'companies'
  /** A text of a record, known to contain the part. */
  text: RawBuilder<unknown>
  part: string
  /** Whether the text is the name of a company, in which only names of people are hidden. */
  isCompany: boolean
  mayName: boolean
}

/**
 * Whether AI agents see a part of a text, and not only in a name, an address or a number that is hidden from them.
 * @param shows the condition for a text from which something may be hidden, with the names
 */
export function isSeen(
  { table, text, part, isCompany, mayName }: Found,
  shows: (names: RawBuilder<unknown>) => RawBuilder<SqlBool>,
): RawBuilder<SqlBool> {
  const own = ownTexts(table, isCompany)
  if (mayName) return shows(sql`concat_ws(' ', ${own}, names_in(${sql.ref(`${table}.tenant_id`)}, ${text}))`)
  const patterns = sql.join(tokensOf(part).map((token) => sql`plain_text(${containing(token)})`))
  const isOwn =
    table === 'contacts'
      ? sql`own_names_match(contacts.sort_firstname, contacts.sort_lastname, contacts.properties, ${!isCompany}::boolean,
        ARRAY[${patterns}]::text[])`
      : sql`false`
  return sql`(is_all_visible(${text}) AND NOT ${isOwn} OR ${shows(own)})`
}

function ownTexts(table: Found['table'], isCompany: boolean): RawBuilder<unknown> {
  if (table === 'companies') return sql`''`
  if (isCompany) return sql`own_names(contacts.properties)`
  return sql`concat_ws(' ', own_names(contacts.properties), own_places(contacts.properties))`
}

/** More different words are not looked up. */
const TOKENS_MAX = 10

/**
 * Finds out which of some texts the names of contacts may overlap with. A contact is named by its first and last name
 * together, so a name that hides a part of a text contains a word of that part.
 */
export async function namesOverlapping(tenant: Tenant, parts: readonly string[]): Promise<MayName> {
  const tokens = [...new Set(parts.flatMap(tokensOf))]
  if (tokens.length > TOKENS_MAX) return () => true
  const found = new Set<string>()
  for (const token of tokens) {
    const names = sql`(sort_firstname || ' ' || sort_lastname)`
    // Few names need to be folded, which costs more than to compare them.
    const isIn = sql`${contains(names, token)} OR octet_length(${names}) > length(${names}) AND ${contains(sql`fold_text(${names})`, token)}`
    const query = tenant.db
      .selectFrom('contacts')
      .select(sql<boolean | null>`bool_or(${isIn})`.as('overlaps'))
      .where(contains(sql`search_text`, token))
    const row = await tenant.heavyRead(() => query.executeTakeFirst())
    if (row?.overlaps) found.add(token)
  }
  return (part) => tokensOf(part).some((token) => found.has(token))
}

function tokensOf(part: string): string[] {
  return part.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
}
