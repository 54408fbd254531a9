import { parseJson } from './json-body.ts'

/** A text of so many digits may be a number that a double does not hold: 15 always fit. */
const LONG = 16
/** A number that a double may hold only as 0. Larger ones become infinite. */
const SMALL = /\d[eE]-\d{3}/
/** What is beside a number in JSON. */
const BEFORE: ReadonlySet<string | undefined> = new Set([undefined, ...'[:, \t\n\r\ufeff'])
const AFTER: ReadonlySet<string | undefined> = new Set([undefined, ...']}, \t\n\r'])
/** In the text between two strings: numbers of at least the length of `1e-400`. */
const NUMBERS = /-?\d[\d.eE+-]{5,}/g

/**
 * Parses JSON, with a text of the digits sent for each number that would lose some of them as a double: otherwise
 * neighboring ids would become one.
 */
export function parseExactJson(text: string): unknown {
  return withExactNumbers(parseJson(text), text)
}

/**
 * The same, of a text that was parsed before.
 * @param hasZero whether a number in it is 0, which `1e-400` is too. @returns the value itself if no number loses digits.
 */
export function withExactNumbers(value: unknown, text: string, hasZero = true): unknown {
  if (!hasInexactNumber(text) && !(hasZero && SMALL.test(text))) return value
  // The text is valid JSON, so every string is closed, and the search for numbers reads each character once.
  const quoted = withInexactNumbersQuoted(text)
  return quoted === text ? value : parseJson(quoted)
}

/** Whether two texts of numbers have the same value. */
export function isSameNumber(one: string, other: string): boolean {
  if (one === other) return true
  const [a, b] = [decimalOf(one), decimalOf(other)]
  return a.digits === b.digits && (a.digits === '' || (a.exponent === b.exponent && a.isNegative === b.isNegative))
}

/**
 * Whether a text has a number of many digits that loses some, or a string that looks like one. Every body is searched,
 * so this looks at each 16th character only: one of them is in any text of 16 digits.
 */
function hasInexactNumber(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    const code = text.charCodeAt(at)
    if (code > 57 || code < 46) continue
    let start = at + 1
    while (isDigitOrDot(text.charCodeAt(start - 1))) start--
    let end = start
    while (isDigitOrDot(text.charCodeAt(end))) end++
    if (end - start < LONG) continue
    while (isPartOfNumber(text.charCodeAt(start - 1))) start--
    while (isPartOfNumber(text.charCodeAt(end))) end++
    const isValue = BEFORE.has(text[start - 1]) && AFTER.has(text[end])
    if (isValue && losesDigits(text.slice(start, end))) return true
    at = end - 1
  }
  return false
}

function isDigitOrDot(code: number): boolean {
  return code <= 57 && code >= 46 && code !== 47
}

function isPartOfNumber(code: number): boolean {
  return isDigitOrDot(code) || code === 43 || code === 45 || code === 69 || code === 101
}

/** A text of valid JSON with each number that would lose digits as a string. */
function withInexactNumbersQuoted(text: string): string {
  let result = ''
  let copied = 0
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('"', at)
    const end = start === -1 ? text.length : start
    if (end > at + 5) {
      const between = text.slice(at, end)
      const quoted = between.replace(NUMBERS, (token) => (losesDigits(token) ? `"${token}"` : token))
      if (quoted !== between) {
        result += text.slice(copied, at) + quoted
        copied = end
      }
    }
    at = start === -1 ? end : endOfString(text, start)
  }
  return result + text.slice(copied)
}

/**
 * Whether a number's text is lost in a double: its value, or the digits of a whole number that would be written with an
 * exponent. A number with an exponent that is too large for a double has no digits to keep.
 */
function losesDigits(token: string): boolean {
  const value = Number(token)
  // What is not a number is part of a string.
  if (Number.isNaN(value)) return false
  if (!Number.isFinite(value)) return !/e/i.test(token)
  const kept = String(value)
  if (kept === token) return false
  // Some programs write all the 17 digits of a double: 49.899999999999999 is 49.9.
  if (/\./.test(token) && isSameNumber(value.toPrecision(17), token)) return false
  return !isSameNumber(kept, token) || (kept.includes('e') && /^-?\d+$/.test(token))
}

/** A number as digits without zeros around them, times a power of ten. */
function decimalOf(text: string): { digits: string; exponent: number; isNegative: boolean } {
  const isNegative = text.startsWith('-')
  const [mantissa = '', power = '0'] = text.slice(isNegative ? 1 : 0).split(/e/i)
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = whole + fraction
  let start = 0
  while (all.charCodeAt(start) === 48) start++
  let end = all.length
  while (end > start && all.charCodeAt(end - 1) === 48) end--
  return { digits: all.slice(start, end), exponent: Number(power) - fraction.length + all.length - end, isNegative }
}

/** The index after a string that starts at an index. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text[end - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return end + 1
  }
  return text.length
}
