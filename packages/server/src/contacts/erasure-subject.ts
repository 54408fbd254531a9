import { readableEmail } from '../platform/email.ts'

/** The characters allowed around an address; with others, it is part of another person's longer address. */
const BEFORE = '(^|[^A-Za-z0-9._+-]|%[0-9A-Fa-f]{2})'
const AFTER = '$|[^A-Za-z0-9.-]|[.]($|[^A-Za-z0-9])'

/**
 * A regular expression for PostgreSQL and ClickHouse that finds an email address in a text, plain or percent-encoded
 * as in a URL. Match it case-insensitively.
 */
export function mentionPattern(email: string): string {
  return `${BEFORE}${addressPattern(email)}(${AFTER})`
}

/**
 * A pattern for replacements in PostgreSQL: it matches the preceding character, as the first group, and the address.
 */
export function replacedPattern(email: string): string {
  return `${BEFORE}${addressPattern(email)}(?=${AFTER})`
}

/** The domain may be mentioned in punycode or in its own letters. */
function addressPattern(email: string): string {
  const readable = readableEmail(email)
  return readable === email ? spellingPattern(email) : `(${spellingPattern(email)}|${spellingPattern(readable)})`
}

function spellingPattern(email: string): string {
  const characters = [...email].map((character) => {
    // Both engines accept a backslash only before ASCII punctuation.
    const plain = /^[!-/:-@[-`{-~]$/.test(character) ? `\\${character}` : character
    // Case does not count, but a percent-encoded letter has none; an address is stored without a final sigma.
    const letters = character === 'σ' ? ['σ', 'ς', 'Σ'] : [character, character.toUpperCase()]
    const encoded = letters.map(encodeURIComponent).filter((each, at) => each !== letters[at])
    const others = character === 'σ' ? ['ς'] : []
    return encoded.length === 0 ? plain : `(${[...new Set([plain, ...others, ...encoded])].join('|')})`
  })
  return characters.join('')
}

/** A part of the address that every mention contains: searching for it first is several times faster. */
export function mentionHint(email: string): string {
  const domain = email.slice(email.lastIndexOf('@') + 1)
  if (readableEmail(email) === email) return domain
  // Its other labels are written in two ways, and all may be.
  return domain.split('.').find((label) => !label.startsWith('xn--')) ?? '.'
}
