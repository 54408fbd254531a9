/**
 * A character is a code point, as in JSON Schema and PostgreSQL. JavaScript's `length` counts an emoji twice, so a
 * limit based on it would reject texts that the API promises to accept.
 */
export function hasMoreCharacters(text: string, max: number): boolean {
  if (text.length <= max) return false
  return text.length > 2 * max || endOfCharacters(text, max) < text.length
}

export function hasFewerCharacters(text: string, min: number): boolean {
  return !hasMoreCharacters(text, min - 1)
}

/** The first characters of a text, at most `max`. */
export function firstCharacters(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, endOfCharacters(text, max))
}

const SHOWN_LENGTH_MAX = 128

/** The longest host name (RFC 1035). */
export const HOST_LENGTH_MAX = 253

/** A text that was sent, short enough for a message or the path of a problem. */
export function shown(text: string, lengthMax = SHOWN_LENGTH_MAX): string {
  return firstCharacters(text, lengthMax)
}

/** The index at which the given number of characters ends. */
function endOfCharacters(text: string, characters: number): number {
  let end = 0
  for (let n = 0; n < characters && end < text.length; n++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  return end
}
