/** What an erasure searches for. It is stored while the erasure runs, and deleted when it is verified. */
export interface ErasureSubject {
  contactId: string
  /** null if the contact was deleted earlier, so that its address is not known any more. */
  email: string | null
  /** The visitors that belonged to the contact. */
  visitorIds: string[]
  /** How conversations know the contact: its address, and the ids that messaging tools have for it. */
  keys: { directory: string; key: string }[]
}

/** What may stand before an address, and what after it: else it is part of a longer one, which is somebody else's. */
const BEFORE = '(^|[^A-Za-z0-9._+-]|%[0-9A-Fa-f]{2})'
const AFTER = '$|[^A-Za-z0-9.-]|[.]($|[^A-Za-z0-9])'

/**
 * A regular expression, for PostgreSQL and ClickHouse alike, that finds the e-mail address in a text: plain or
 * percent-encoded as in a URL; asked for in any case.
 */
export function mentionPattern(email: string): string {
  return `${BEFORE}${addressPattern(email)}(${AFTER})`
}

/** The same for PostgreSQL's replacements: what is matched is what stands before, as the first group, and the address. */
export function replacedPattern(email: string): string {
  return `${BEFORE}${addressPattern(email)}(?=${AFTER})`
}

function addressPattern(email: string): string {
  const characters = [...email].map((character) => {
    // Neither engine takes a backslash before what is no ASCII punctuation.
    const plain = /^[!-/:-@[-`{-~]$/.test(character) ? `\\${character}` : character
    const encoded = encodeURIComponent(character)
    return encoded === character ? plain : `(${plain}|${encoded})`
  })
  return characters.join('')
}

/** Parts of the address without which no text mentions it: looking for them first is several times faster. */
export function mentionHint(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}
