import { hasMoreCharacters } from './characters.ts'
import { validationError } from './errors.ts'
import { isStorableText } from './http/json-body.ts'

/** The longest name of a person, a tenant or something that a tenant creates. */
export const NAME_LENGTH_MAX = 200

/**
 * Normalizes a name by trimming it.
 * @throws ServiceError 400 if nothing is left, or if the name is too long or cannot be stored.
 */
export function requireName(text: string, lengthMax = NAME_LENGTH_MAX): string {
  const name = text.trim()
  if (name !== '' && !hasMoreCharacters(name, lengthMax) && isStorableText(name)) return name
  throw validationError([{ path: 'name', message: `must be a string of 1 to ${lengthMax} characters, and not blank` }])
}
