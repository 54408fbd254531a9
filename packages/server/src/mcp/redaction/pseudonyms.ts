import { createHmac, hkdfSync } from 'node:crypto'
import { normalizeEmail } from '../../platform/email.ts'
import { KINDS, type Kind } from '../../platform/personal.ts'

const ID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const KIND = KINDS.join('|')
/** A contact's, with a check code if it is not the contact's main value of the kind; or a stranger's. */
const PSEUDONYM = `(?:${KIND}):(?:${ID}(?:~[a-z2-7]{6})?|[a-z2-7]{12})`
const WITHHELD = '\\[text withheld: \\d+ characters\\]'
const MOMENT = '\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:Z|[+-]\\d{2}:?\\d{2})?'

/** Parts of a text that scrubbing leaves as they are: redacted values, ids, times, and names of campaign parameters. */
const PROTECTED = new RegExp(
  `${PSEUDONYM}|${WITHHELD}|(?<=[?&])utm_[a-z_]+=|(?<![0-9a-zA-Z])(?:${ID}|${MOMENT})(?![0-9a-zA-Z])`,
  'gi',
)
const ALL_HARMLESS = new RegExp(`^(?:${ID}|${MOMENT})$`, 'i')
const ALL_REDACTED = new RegExp(`^(?:${PSEUDONYM}|${WITHHELD})$`)
const OF_CONTACT = new RegExp(`^(?:${KIND}):(${ID})(?:~[a-z2-7]{6})?$`, 'i')
const EACH_PSEUDONYM = new RegExp(`(?<![0-9a-zA-Z])${PSEUDONYM}(?![0-9a-zA-Z])`, 'g')
const IDS = new RegExp(`(?<![0-9a-zA-Z])${ID}(?![0-9a-zA-Z])`, 'gi')

const STRANGER_LENGTH = 12
const CHECK_LENGTH = 6
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** The contact of a pseudonym such as `email:019a…`; null for other texts. */
export function contactOfPseudonym(text: string): string | null {
  return OF_CONTACT.exec(text.trim())?.[1]?.toLowerCase() ?? null
}

/** The key of a tenant's pseudonyms for people who are not contacts. @param secret a secret of the service */
export function redactionKeyOf(secret: string, tenantId: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `redaction/${tenantId}`, 32))
}

/** The key of a tenant's order of hidden values. */
export function orderSecretOf(key: Buffer): string {
  return createHmac('sha256', key).update('order').digest('hex')
}

/** Replaces each pseudonym within a text. */
export function mapPseudonyms(text: string, replace: (pseudonym: string) => string): string {
  return text.replace(EACH_PSEUDONYM, (pseudonym) => replace(pseudonym))
}

/** Changes every text in a value, except names of fields. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, mapTexts(field, change)]))
}

/** The real values in place of the pseudonyms in a value, at any depth. */
export function restoreValues<Value>(value: Value, issued: ReadonlyMap<string, string>): Value {
  return mapTexts(value, (text) => mapPseudonyms(text, (pseudonym) => issued.get(pseudonym) ?? pseudonym)) as Value
}

/** Whether a whole text is an id or a time. */
export function isHarmless(text: string): boolean {
  return ALL_HARMLESS.test(text)
}

/** Whether a whole text is a pseudonym or a withheld text. */
export function isRedacted(text: string): boolean {
  return ALL_REDACTED.test(text)
}

export function withheld(text: string): string {
  return `[text withheld: ${[...text].length} characters]`
}

/** Applies a change to the parts of a text between ids, times and what is redacted already. */
export function outsideRedacted(text: string, change: (part: string) => string): string {
  let [result, at] = ['', 0]
  for (const match of text.matchAll(PROTECTED)) {
    result += change(text.slice(at, match.index)) + match[0]
    at = match.index + match[0].length
  }
  return result + change(text.slice(at))
}

/** All ids within a text, in lower case. */
export function idsIn(text: string): string[] {
  return (text.match(IDS) ?? []).map((id) => id.toLowerCase())
}

/** `<kind>:<contact>`; a value that is not the contact's main one of its kind gets a check code. */
export function contactPseudonym(kind: Kind, contactId: string, otherValue: string | null, key: Buffer): string {
  const check = otherValue === null ? '' : `~${digest(key, otherValue, CHECK_LENGTH)}`
  return `${kind}:${contactId}${check}`
}

export function strangerPseudonym(kind: Kind, normalized: string, key: Buffer): string {
  return `${kind}:${digest(key, normalized, STRANGER_LENGTH)}`
}

function digest(key: Buffer, text: string, length: number): string {
  const bytes = createHmac('sha256', key).update(text).digest()
  // Each byte gives a character of 5 bits. The hash has more bytes than the longest text.
  return Array.from(bytes.subarray(0, length), (byte) => BASE32[byte & 31]).join('')
}

/** A word in lower case and without accents: `Adèle` and `adele` are the same. */
export function fold(word: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
  if (/^[\x00-\x7f]*$/.test(word)) return word.toLowerCase()
  return word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

export const WORD = /[\p{L}\p{N}\p{M}]+/gu

export function wordsOf(text: string): string[] {
  return (text.match(WORD) ?? []).map(fold)
}

/** The same text for every spelling of a value. */
export function normalize(kind: Kind, value: string): string {
  if (kind === 'email') return normalizeEmail(value)
  if (kind === 'phone') {
    const digits = digitsOf(value)
    if (digits !== '') return digits
  }
  return wordsOf(value).join(' ') || value.trim()
}

/** A phone number's digits, without the leading zeros of dialing. */
export function digitsOf(text: string): string {
  return text.replace(/\D/g, '').replace(/^0+/, '')
}
