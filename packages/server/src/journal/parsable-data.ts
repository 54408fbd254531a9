const DIGITS = 19
const LONG_NUMBER = /\d{19}/
const TEXT_OR_LONG_INTEGER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.])-?\d{19,}/g
const ESCAPED = /\\(?:u[0-9a-f]{4}|.)/g
/** The limits themselves are written with 16 digits, which are beyond 64 bits. */
const [AFTER, BEFORE] = [-(2 ** 63), 2 ** 64]

/**
 * The JSON of an event's data as ClickHouse can parse it, with the same values. One number or text that it cannot parse
 * would hide every property of the event from queries. These are integers of more than 64 bits, which get an exponent,
 * and halves of characters, which become U+FFFD.
 */
export function parsableData(json: string): string {
  if (!json.includes('\\ud') && !hasLongNumber(json)) return json
  return json.replace(TEXT_OR_LONG_INTEGER, (token) =>
    token.startsWith('"') ? wholeCharacters(token) : integer(token),
  )
}

/** Looks at every 19th character first, because almost no event has such a number. */
function hasLongNumber(json: string): boolean {
  for (let at = DIGITS - 1; at < json.length; at += DIGITS) {
    const code = json.charCodeAt(at)
    const isDigit = code >= 48 && code <= 57
    if (isDigit && LONG_NUMBER.test(json.slice(at - DIGITS + 1, at + DIGITS))) return true
  }
  return false
}

/** JSON.stringify escapes a half alone: whole characters stand as they are. */
function wholeCharacters(text: string): string {
  return text.replace(ESCAPED, (escaped) => (/^\\ud/.test(escaped) ? '\ufffd' : escaped))
}

function integer(digits: string): string {
  const value = Number(digits)
  return value > AFTER && value < BEFORE ? digits : value.toExponential()
}
