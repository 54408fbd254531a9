import { hasMoreCharacters } from './characters.ts'
import { validationError } from './errors.ts'
import { isStorableText } from './http/json-body.ts'

/**
 * Normalizes a name by trimming it.
 * @throws ServiceError 400 if nothing is left, or if the name is too long or cannot be stored.
 */
export function requireName(path: string, text: string, lengthMax: number): string {
  const name = text.trim()
  if (name !== '' && !hasMoreCharacters(name, lengthMax) && isStorableText(name)) return name
  throw validationError([{ path, message: `must be a string of 1 to ${lengthMax} characters, and not blank` }])
}
