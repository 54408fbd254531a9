import { ServiceError } from '../errors.ts'

/** The size limit of a body, unless a route has another. */
export const BODY_BYTES_MAX = 1024 * 1024

/** Parses JSON without a check of its values. @throws ServiceError 400 `invalid_json`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (cause) {
    throw new ServiceError(400, 'invalid_json', 'The body is not valid JSON. Send one JSON object.', { cause })
  }
}

/**
 * The same, with whole numbers beyond 2^53 as texts of all their digits: as numbers, neighboring ids would become one.
 * Fractions and numbers with an exponent become the nearest double, as always in JSON.
 */
export function parseExactJson(text: string): unknown {
  // The text is parsed first. In valid JSON every string is closed, so the search for numbers reads each character
  // once.
  return withExactNumbers(parseJson(text), text)
}

/** The same, of a text that was parsed before. @returns the value itself if it has no such number. */
export function withExactNumbers(value: unknown, text: string): unknown {
  return LONG_NUMBER.test(text) ? parseJson(withLongNumbersQuoted(text)) : value
}

/** Most texts have none, and need no more than this test. */
const LONG_NUMBER = /(?:^|[[:,\s])-?\d{16}/
/** In the text between two strings. */
const NUMBERS = /-?\d[\d.eE+-]{15,}/g

/** A text of valid JSON with each whole number beyond 2^53 as a string. */
function withLongNumbersQuoted(text: string): string {
  let result = ''
  let copied = 0
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('"', at)
    const end = start === -1 ? text.length : start
    if (end - at >= 16) {
      result += text.slice(copied, at) + text.slice(at, end).replace(NUMBERS, quoted)
      copied = end
    }
    at = start === -1 ? end : endOfString(text, start)
  }
  return result + text.slice(copied)
}

function quoted(token: string): string {
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token
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

/** Whether a text can be stored unchanged: no NUL, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}
