import { hasMoreCharacters } from '../platform/characters.ts'
import { ServiceError } from '../platform/errors.ts'
import { NAME_LENGTH_MAX } from '../platform/names.ts'

/** Control characters, including U+0085, and the two line separators, which are not control characters. */
const LINE_BREAK = /[\p{Cc}\u2028\u2029]/u
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/u
const LINK = /\/\/|(?<![\p{L}\p{N}])www[.。]|[\p{L}\p{N}][.。]\p{L}{2,}\//iu
/** Text that a mail program turns into a link: "evil.example", but not "J.R. Smith". */
const SITE = /[\p{L}\p{N}-][.。]\p{L}{2,}/u
const EMAIL_ADDRESS = /[^\s@]+@[^\s@]+/gu

/**
 * Checks the name of a person, which appears in invitation mails. Line breaks and web addresses are rejected, so that
 * nobody can send a message of their own in it. @returns the trimmed name. @throws ServiceError 400 `invalid_name`.
 */
export function requirePersonName(text: string): string {
  const name = requireName(text)
  if (!namesSite(name)) return name
  throw invalidName('A name cannot contain a URL. Put a space after each dot of an abbreviation.')
}

/** Whether `requirePersonName` accepts a name. */
export function isPersonName(text: string): boolean {
  try {
    return requirePersonName(text) !== ''
  } catch {
    return false
  }
}

/** Checks the name of a tenant, which may look like a site: "Booking.com". @throws ServiceError 400 `invalid_name`. */
export function requireTenantName(text: string): string {
  return requireName(text)
}

/** Whether a name may appear in a mail. Names stored before names were checked may not pass. */
export function fitsInMail(name: string): boolean {
  const plain = name.normalize('NFKC')
  return !LINE_BREAK.test(plain) && !DIRECTION.test(plain) && !LINK.test(plain) && !namesSite(plain)
}

function requireName(text: string): string {
  const name = text.trim()
  const plain = name.normalize('NFKC')
  if (name === '') throw invalidName('A name cannot be empty.')
  if (hasMoreCharacters(name, NAME_LENGTH_MAX))
    throw invalidName(`A name cannot be longer than ${NAME_LENGTH_MAX} characters.`)
  if (LINE_BREAK.test(plain)) throw invalidName('A name cannot contain line breaks or control characters.')
  if (LINK.test(plain)) throw invalidName('A name cannot contain a link.')
  return name
}

function namesSite(name: string): boolean {
  return SITE.test(name.normalize('NFKC').replace(EMAIL_ADDRESS, ''))
}

function invalidName(message: string): ServiceError {
  return new ServiceError(400, 'invalid_name', message, { details: [{ path: 'name', message }] })
}
