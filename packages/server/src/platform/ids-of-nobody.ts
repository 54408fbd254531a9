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
  '0', '-0', '0.0', '-1', '-1.0', 'n/a', '#n/a', 'not set', 'not_set', 'not-set', 'not+set',
]) // biome-ignore format: a list

/** What may surround such a word: `"undefined"`, `<nil>`, `(not set)`. */
const PAIRS = new Map(
  ['""', "''", '``', '“”', '‘’', '«»', '()', '<>', '[]', '{}'].map(([open, close]) => [open, close]),
)

/** Most ids: ASCII without spaces, percent signs and backslashes. They are compared as they are. */
const SIMPLE = /^[!-$&-[\]-~]*$/
/** Space, and the backslashes of quotes in quotes. */
const EDGES = /^[ \\]+|[ \\]+$/g
const ENCODED = /(?:%[0-9a-f]{2})+/gi
/** An id may be encoded twice on its way, such as by a cookie and by a URL. */
const DECODINGS_MAX = 3
/** Anywhere in an id: `user-${id}` is as empty as `${id}`. */
const UNFILLED = /\[object [^\]]*\]|\{\{.*\}\}|[$#]\{.*\}|\*\|.*\|\*/isu
/** What code calls an id, or whose it is. */
const OF_WHOM = 'user|visitor|customer|client|contact|account|member|person'
const SEPARATORS = '[-_:./|#=, ]+'
const PREFIXES = `(?:(?:${OF_WHOM}|userid|uid|id)${SEPARATORS})`
const EMPTY = `(?:(?:undefined|null|nan)${SEPARATORS})`
/**
 * These must be the whole id. Templates in other syntax: `%20` and `{1}` also occur within ids. A prefix that code writes
 * with an empty value: `user-undefined`, but not `anna-null`, because Null is a name. A UUID of zeros.
 */
const WHOLE = new RegExp(
  [
    String.raw`%.*%|%(?:\d+\$|\(\w+\))?[sdifu]|\[\[.*\]\]|\{ ?\$?[a-z_][a-z_. -]*\}`,
    String.raw`<(?:${OF_WHOM})_id>|\$(?:${OF_WHOM})_id`,
    `(?:${PREFIXES}|${EMPTY})+(?:undefined|null)|${PREFIXES}*${EMPTY}+nan`,
    '(?:urn:uuid:)?0{8}(?:-?0{4}){3}-?0{12}',
    String.raw`-?0\.0+`,
  ]
    .map((each) => `^(?:${each})$`)
    .join('|'),
  's',
)
/** In exactly this case, because Nan is a name: `user-NaN`. */
const NOT_A_NUMBER = new RegExp(`^${PREFIXES}+(?-i:NaN)$`, 'i')
/** Longer texts are too long for an id, and are not examined. */
const LENGTH_MAX = 2 * ID_LENGTH_MAX

/**
 * Whether an id names nobody: `undefined`, `[object Object]`, a template without its value, a UUID of zeros … If it
 * counted as an id, everyone who sends it would be one person.
 */
export function namesNobody(id: string, ignored: IgnoredIds): boolean {
  if (id.length > LENGTH_MAX) return id.trim() === ''
  if (isEmpty(id, ignored)) return true
  const decoded = id.includes('%') ? percentDecoded(id) : id
  return decoded !== id && isEmpty(decoded, ignored)
}

function isEmpty(id: string, ignored: IgnoredIds): boolean {
  if (UNFILLED.test(id) || NOT_A_NUMBER.test(id.trim())) return true
  for (let word: string | null = comparable(id); word !== null; word = insideOf(word)) {
    if (WORDS.has(word) || ignored.has(word) || WHOLE.test(word)) return true
  }
  return false
}

/** Several characters that look the same, or cannot be seen, are one; `n / a` is `n/a`. */
function comparable(id: string): string {
  if (SIMPLE.test(id)) return id.toLowerCase()
  const text = id
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/g, ' ')
    .replace(/\p{Cc}/gu, '')
  return text
    .replace(EDGES, '')
    .replace(/ ?\/ ?/g, '/')
    .toLowerCase()
}

/** A word without the pair that surrounds it; null if there is none. */
function insideOf(word: string): string | null {
  const isInside = word.length > 1 && PAIRS.get(word.charAt(0)) === word.at(-1)
  return isInside ? word.slice(1, -1).replace(EDGES, '') : null
}

function percentDecoded(id: string): string {
  let text = id
  for (let i = 0; i < DECODINGS_MAX && text.includes('%'); i++) {
    text = text.replace(ENCODED, (run) => {
      try {
        return decodeURIComponent(run)
      } catch {
        return run
      }
    })
  }
  return text
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

/** An id in the form in which it is compared, without what surrounds it. Two words that are the same count once in a tenant's list. */
export function plainWord(id: string): string {
  let word = comparable(id)
  for (let inside = insideOf(word); inside !== null; inside = insideOf(word)) word = inside
  return word
}
