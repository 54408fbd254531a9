import { shown } from '../characters.ts'
import { ServiceError, validationError } from '../errors.ts'

/** The size limit of a body, unless a route has another. */
export const BODY_BYTES_MAX = 1024 * 1024

/** Deeper than any legitimate body; the limit protects every recursive function. */
const MAX_DEPTH = 32

/**
 * Parses a JSON body and rejects what `requireStorable` does.
 * @throws ServiceError 400 `invalid_json` or `validation_error` naming the path.
 */
export function parseJsonBody(text: string): unknown {
  const body = parseJson(text)
  // JSON in UTF-8 can contain a NUL or a lone surrogate only as an escape, so most bodies need no check of their
  // strings.
  checkTree(body, '', 0, text.includes('\\u'))
  return body
}

/** The same, with whole numbers beyond 2^53 as texts of all their digits: as numbers, neighboring ids would become one. */
export function parseExactJsonBody(text: string): unknown {
  // The text is parsed first. In valid JSON every string is closed, so the search for numbers reads each character once.
  // Without this, it would search the rest of the text for the end of a string again at every quote.
  const body = parseJsonBody(text)
  return LONG_NUMBER.test(text) ? parseJson(text.replace(TEXT_OR_LONG_NUMBER, withQuotes)) : body
}

/** Most bodies have none, and need no more than this test. */
const LONG_NUMBER = /[[:,\s]-?\d{16}/
/** Also matches strings, so that digits inside a string are left alone. A reviver sees every value and is ten times as slow. */
const TEXT_OR_LONG_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]{15,}/gs

function withQuotes(token: string): string {
  return /^-?[1-9]\d*$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token
}

/** Parses JSON without a check of its values. @throws ServiceError 400 `invalid_json`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (cause) {
    throw new ServiceError(400, 'invalid_json', 'The body is not valid JSON. Send one JSON object.', { cause })
  }
}

/**
 * Rejects values that cannot be stored as sent: NUL characters (PostgreSQL cannot store them), lone surrogates (invalid
 * UTF-8), prototype keys, and nesting beyond 32 levels.
 * @throws ServiceError 400 `validation_error` naming the path.
 */
export function requireStorable(value: unknown): void {
  checkTree(value, '', 0, true)
}

/** Whether a text can be stored unchanged: no NUL, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

const UNSTORABLE = 'contains a NUL character or a lone surrogate, which cannot be stored; remove it'

function checkTree(value: unknown, path: string, depth: number, withStrings: boolean): void {
  if (typeof value === 'string') {
    if (withStrings && !isStorableText(value)) throw validationError([{ path, message: UNSTORABLE }])
    return
  }
  if (value === null || typeof value !== 'object') return
  if (depth >= MAX_DEPTH) {
    throw validationError([{ path: shown(path), message: `is nested deeper than ${MAX_DEPTH} levels` }])
  }
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) checkTree(value[i], `${path}[${i}]`, depth + 1, withStrings)
    return
  }
  for (const key in value) {
    const at = path === '' ? key : `${path}.${key}`
    if (key === '__proto__') throw validationError([{ path: at, message: 'is a reserved name; rename it' }])
    if (withStrings && !isStorableText(key)) throw validationError([{ path, message: `a key ${UNSTORABLE}` }])
    checkTree((value as Record<string, unknown>)[key], at, depth + 1, withStrings)
  }
}
