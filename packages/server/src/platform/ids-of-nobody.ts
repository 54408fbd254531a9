import { shown } from './characters.ts'
import { ID_LENGTH_MAX } from './ids.ts'

/** The words that a tenant adds to the vocabulary below, as `ownWords` returns them. */
export type OwnWords = ReadonlySet<string>

/** Finds a tenant's own words. They are cached, so asking for them costs no query. */
export type FindOwnWords = (tenantId: string) => Promise<OwnWords>

export const NO_OWN_WORDS: OwnWords = new Set()

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
export function namesNobody(id: string, words: OwnWords): boolean {
  if (id.length > LENGTH_MAX) return id.trim() === ''
  if (UNFILLED.test(id)) return true
  const word = plainWord(id)
  return WORDS.has(word) || words.has(word) || UNFILLED_PERCENT.test(word) || ZERO_UUID.test(word)
}

/** The words of a tenant, which are compared like those of the vocabulary. */
export function ownWords(words: readonly string[]): OwnWords {
  return words.length === 0 ? NO_OWN_WORDS : new Set(words.map(plainWord))
}

/**
 * An id, unless it names nobody.
 * @param name the field, as the caller knows it. @param warnings gets why the id was ignored.
 */
export function unlessNobody<Id extends string | null | undefined>(
  name: string,
  id: Id,
  words: OwnWords,
  warnings: string[],
): Id | null {
  if (typeof id !== 'string' || !namesNobody(id, words)) return id
  warnings.push(ignoredId(name, id))
  return null
}

/** The warning of an ignored id. */
export function ignoredId(name: string, id: string): string {
  return `ignored_id: ${name} ${JSON.stringify(shown(id))} names nobody and was ignored. Omit it, or send an id that only one person has.`
}

/** The id in lower case, without what surrounds it. */
function plainWord(id: string): string {
  let word = id.replace(EDGES, '').toLowerCase()
  while (word.length > 1 && PAIRS.get(word.charAt(0)) === word.at(-1)) word = word.slice(1, -1).replace(EDGES, '')
  return word
}
