import { hasMoreCharacters } from '../platform/characters.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { parseTimestamp } from '../platform/time.ts'
import type { PropertyOperator, Scalar } from './language.ts'

/*
 * Which values a condition can compare with.
 */

const TEXT_LENGTH_MAX = 1_000
const LIST_LENGTH_MAX = 500
const DAYS_MAX = 36_500

const NUMERIC_TEXT = /^\s*[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})\s*$/

export const TEXT_EXPECTED = `must be a string of 1 to ${TEXT_LENGTH_MAX} characters`
const SCALAR_EXPECTED = `must be a string of at most ${TEXT_LENGTH_MAX} characters, a number, true or false`
export const wholeExpected = (max: number) => `must be a whole number from 1 to ${max}`

/** What is wrong with the value that an operator compares with; null if it fits. */
export function problemOfValue(operator: PropertyOperator, value: unknown): string | null {
  switch (operator) {
    case 'contains':
    case 'not_contains':
    case 'starts_with':
    case 'ends_with':
      return isText(value) ? null : TEXT_EXPECTED
    case 'in':
    case 'not_in': {
      const fits = Array.isArray(value) && value.length > 0 && value.length <= LIST_LENGTH_MAX && value.every(isScalar)
      return fits ? null : `must be a list of 1 to ${LIST_LENGTH_MAX} items, each a string, a number, true or false`
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const fits = typeof value === 'string' ? NUMERIC_TEXT.test(value) : isScalar(value) && typeof value === 'number'
      return fits ? null : 'must be a number'
    }
    case 'before':
    case 'after': {
      const fits = typeof value === 'string' && parseTimestamp(value) !== null
      return fits ? null : 'must be an ISO 8601 timestamp with an offset, or a date alone'
    }
    case 'within_days':
      return isWhole(value, DAYS_MAX) ? null : wholeExpected(DAYS_MAX)
    default:
      return isScalar(value) ? null : SCALAR_EXPECTED
  }
}

export function isText(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && !hasMoreCharacters(value, TEXT_LENGTH_MAX) && isStorableText(value)
  )
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return value === '' || isText(value)
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
}

export function isWhole(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max
}
