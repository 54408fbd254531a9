import { shown } from './characters.ts'
import type { ErrorDetail } from './errors.ts'
import { ID_LENGTH_MAX } from './ids.ts'
import type { Tenant } from './tenant.ts'

/** The words that a tenant has added to the vocabulary below, as `toIgnoredIds` returns them. */
export type IgnoredIds = ReadonlySet<string>

/** Finds the words that a tenant has added. The service caches them, so that each request may ask. */
export type FindIgnoredIds = (tenant: Tenant) => Promise<IgnoredIds>

export const NONE_IGNORED: IgnoredIds = new Set()

/**
 * What code writes in place of an id that it does not have, in lower case. Words that could be the login of a person,
 * such as `admin`, `test` or `na`, are not among them: a tenant can add its own.
 */
const WORDS = new Set([
  '', 'undefined', 'null', '#null!', 'nil', 'none', 'nan', 'true', 'false', 'anonymous', 'guest', 'unknown',
  '0', '-0', '0.0', '-1', '-1.0', 'n/a', '#n/a', 'not set', 'not_set', 'not-set',
]) // biome-ignore format: a list

/** What may surround such a word: `"undefined"`, `<nil>`, `(not set)`. */
const PAIRS = new Map(
  ['""', "''", '``', '“”', '‘’', '«»', '()', '<>', '[]', '{}'].map(([open, close]) => [open, close]),
)

/** Space, characters that cannot be seen, and the backslashes of quotes in quotes. */
const EDGES = /^[\s\p{Cf}\p{Cc}\\]+|[\s\p{Cf}\p{Cc}\\]+$/gu
/** Anywhere in an id: `user-${id}` is as empty as `${id}`. */
const UNFILLED = /\[object [^\]]*\]|\{\{.*\}\}|[$#]\{.*\}|\*\|.*\|\*/isu
/** Only the whole id, because `%20` is part of encoded ones. */
const UNFILLED_PERCENT = /^%.*%$/su
const ZERO_UUID = /^(urn:uuid:)?0{8}(-?0{4}){3}-?0{12}$/
/** Longer texts are too long for an id, and are not examined. */
const LENGTH_MAX = 2 * ID_LENGTH_MAX

/**
 * Whether an id names nobody: `undefined`, `[object Object]`, a template without its value, a UUID of zeros … If it
 * counted as an id, everyone who sends it would be one person.
 */
export function namesNobody(id: string, ignored: IgnoredIds): boolean {
  if (id.length > LENGTH_MAX) return id.trim() === ''
  if (UNFILLED.test(id)) return true
  const word = plainWord(id)
  return WORDS.has(word) || ignored.has(word) || UNFILLED_PERCENT.test(word) || ZERO_UUID.test(word)
}

/** The words of a tenant, to be compared like those of the vocabulary. */
export function toIgnoredIds(words: readonly string[]): IgnoredIds {
  return words.length === 0 ? NONE_IGNORED : new Set(words.map(plainWord))
}

/**
 * An id, unless it names nobody.
 * @param name the field, as the caller knows it. @param warnings gets why the id was ignored.
 */
export function unlessNobody<Id extends string | null | undefined>(
  name: string,
  id: Id,
  ignored: IgnoredIds,
  warnings: string[],
): Id | null {
  if (typeof id !== 'string' || !namesNobody(id, ignored)) return id
  warnings.push(ignoredId(name, id))
  return null
}

/** The code with which each warning of an ignored id starts. */
export const IGNORED_ID = 'ignored_id'

/** The warning of an ignored id. */
export function ignoredId(name: string, id: string): string {
  return `${IGNORED_ID}: ${name} ${JSON.stringify(shown(id))} names nobody and was ignored. Omit it, or send an id that only one person has.`
}

/** Whether a warning is that of an ignored id. */
export function isIgnoredId(warning: string): boolean {
  return warning.startsWith(`${IGNORED_ID}: `)
}

/** The problem of a record that has no email, and only an id that names nobody. */
export function nobodyDetail(path: string, id: string): ErrorDetail {
  const what = `${JSON.stringify(shown(id))} names nobody (ignored_id), and there is no email`
  return { path, message: `${what}. Send an email, or an id that only one person has` }
}

/** An id in lower case, without what surrounds it. Two words that are the same count once in a tenant's list. */
export function plainWord(id: string): string {
  let word = id.replace(EDGES, '').toLowerCase()
  while (word.length > 1 && PAIRS.get(word.charAt(0)) === word.at(-1)) word = word.slice(1, -1).replace(EDGES, '')
  return word
}
