import { attempt } from './guard.ts'
import { hex } from './ids.ts'
import { options } from './options.ts'

/** Limits nesting, so that cycles end. */
const DEPTH_MAX = 9
/** An email address; @ and dot may be percent-encoded any number of times: `ada@example.com`, `ada%2540example%2Ecom`. */
const ADDRESS = /.(@|%(25)*40).+(\.|%(25)*2e)\D/i
const SENSITIVE = 'pass|token|secret|auth(?!or)|mail|phone|session|api_?key'

/** The first 200 characters as the service counts them: a surrogate pair is one character. */
export function firstCharacters(text: string): string {
  return `${text.match(/.{0,200}/su)}`
}

/** Collapses white space and cuts to 200 characters. */
export function cut(text: unknown): string {
  return firstCharacters(`${text ?? ''}`.trim().replace(/\s+/g, ' '))
}

/**
 * Redacts email addresses anywhere in a URL, and the values of parameters that look personal or secret in its query and
 * its fragment.
 */
export function redact(url: string): string {
  const names = new RegExp(SENSITIVE + (options.redact ? `|${options.redact}` : ''), 'i')
  return url
    .slice(0, 4000)
    .replace(/\/\/[^/?#]*@/, '//')
    .replace(/([?&#;])([^?&#;=]*)=[^&#;]*/g, (whole, mark, name) =>
      names.test(name) ? `${mark}${name}=redacted` : whole,
    )
    .replace(/[^?&#;=:/]+/g, (part) => (ADDRESS.test(part) ? 'redacted' : part))
}

/**
 * Converts any value to JSON that the service accepts. The page may have replaced JSON or added a toJSON to arrays, and
 * the service rejects a whole batch for NUL characters, lone surrogates or deep nesting.
 */
export function serialize(value: unknown, depth = 0): string {
  if (typeof value === 'string') return quote(value)
  // Finite numbers, booleans and null; other primitives have no JSON.
  if (Object(value) !== value) return (value as number) - (value as number) === 0 ? `${value}` : 'null'
  if (value instanceof Date) return serialize(attempt(() => value.toISOString()))
  if (depth > DEPTH_MAX) return 'null'
  if (Array.isArray(value)) return `[${value.map((item) => serialize(item, depth + 1))}]`
  const fields = Object.entries(value as object).flatMap(([key, item]) =>
    item === undefined || typeof item === 'function' || key === '__proto__'
      ? []
      : `${quote(key)}:${serialize(item, depth + 1)}`,
  )
  return `{${fields}}`
}

/** Escapes a text for JSON; what the service cannot store becomes a replacement character. */
function quote(text: string): string {
  let quoted = ''
  for (const character of text) {
    const code = character.length > 1 ? 128 : character.charCodeAt(0)
    if (!code || (code >= 0xd800 && code <= 0xdfff)) quoted += '\ufffd'
    else quoted += code < 32 || character === '"' || character === '\\' ? `\\u${hex(code, 4)}` : character
  }
  return `"${quoted}"`
}
