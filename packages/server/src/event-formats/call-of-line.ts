import { hasMoreCharacters } from '../platform/characters.ts'
import { type ErrorDetail, ServiceError, validationError } from '../platform/errors.ts'
import { ID_LENGTH_MAX } from '../platform/ids.ts'
import { isObject } from '../platform/is-object.ts'
import type { Call } from '../sites/ingestion/call.ts'
import type { Fields } from '../sites/segment/fields.ts'
import { idOfLine } from './format.ts'
import type { Line } from './lines.ts'

/**
 * The call that a line is. An event without an id gets one, which is the same for the same line.
 * @returns otherwise, why the line is not a call.
 */
export function callOfLine(line: Pick<Line, 'value' | 'text'>, toCall: (value: Fields) => Call): Call | ServiceError {
  const { value } = line
  if (value instanceof ServiceError) return value
  if (!isObject(value)) return new ServiceError(400, 'invalid_line', 'The line is not a JSON object.')
  try {
    const call = toCall(value)
    const problems = problemsOf(call)
    if (problems.length > 0) return validationError(problems)
    if (call.event) call.event.sentId ??= idOfLine(line.text, call.event.timestamp)
    return call
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}

function problemsOf({ userId, visitorId, previousId }: Call): ErrorDetail[] {
  const ids = Object.entries({ 'the user id': userId, 'the visitor id': visitorId, 'the previous id': previousId })
  const long = ids.filter(([, id]) => id !== null && hasMoreCharacters(id, ID_LENGTH_MAX))
  return long.map(([path]) => ({ path, message: `must be at most ${ID_LENGTH_MAX} characters` }))
}
