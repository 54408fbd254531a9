import Type from 'typebox'
import { validationError } from '../platform/errors.ts'
import { asBodyFields, parseBounds } from '../platform/http/body-bounds.ts'
import { compileBodyCheck } from '../platform/http/body-validation.ts'
import { parseQuery } from '../platform/http/query-parameters.ts'
import { type Declaration, routeOf, type Values } from './declare.ts'

/**
 * Checks JSON values as the route of an operation checks its query or its body, for callers that have no route. In a
 * query, a list is separated by commas and an object is JSON. Undefined values count as absent.
 * @throws ServiceError 400 naming each invalid value
 */
export function parseSent(operation: Declaration, sent: Values): Values {
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined))
  if (!routeOf(operation).hasBody) {
    const texts = Object.entries(given).map(([name, value]) => [name, textOf(value)])
    const parsed = parseQuery(Type.Object(operation.input), Object.fromEntries(texts))
    if ('details' in parsed) throw validationError(parsed.details)
    return parsed.value
  }
  const details = compileBodyCheck(Type.Object(asBodyFields(operation.input), { additionalProperties: false }))(given)
  if (details.length > 0) throw validationError(details)
  const { values, details: wrongTimes } = parseBounds(operation.input, given, '')
  if (wrongTimes.length > 0) throw validationError(wrongTimes)
  return values
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(',')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
