import { hasMoreCharacters } from './characters.ts'
import { validationError } from './errors.ts'
import { isStorableText } from './http/json-body.ts'

/**
 * A name as it is stored: without the white space around it.
 * @throws ServiceError 400 when nothing is left, and for a name that is too long or cannot be stored.
 */
export function requireName(path: string, text: string, lengthMax: number): string {
  const name = text.trim()
  if (name !== '' && !hasMoreCharacters(name, lengthMax) && isStorableText(name)) return name
  throw validationError([{ path, message: `must be a text from 1 to ${lengthMax} characters, not only white space` }])
}
