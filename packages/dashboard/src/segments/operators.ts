import type { PropertyOperator } from '../../../server/src/segments/filter.ts'

const KNOWN: PropertyOperator[] = ['is_set', 'is_not_set']
const OF_TEXT: PropertyOperator[] = ['equals', 'not_equals', 'contains', 'not_contains', 'in', 'not_in', ...KNOWN]
const OF_NUMBERS: PropertyOperator[] = ['equals', 'not_equals', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', ...KNOWN]
const OF_TIME: PropertyOperator[] = ['before', 'after', 'within_days', ...KNOWN]
const COLUMNS_OF_TEXT = ['email', 'company_id', 'creation_source', 'name', 'domain']
const COLUMNS_OF_TIME = ['created_at', 'updated_at', 'first_seen_at']

/** The operators that a property supports. */
export function operatorsFor(property: string, type: string | undefined): PropertyOperator[] {
  if (COLUMNS_OF_TIME.includes(property)) return OF_TIME
  if (COLUMNS_OF_TEXT.includes(property)) return OF_TEXT
  if (type === 'number') return OF_NUMBERS
  if (type === 'boolean') return ['equals', 'not_equals', ...KNOWN]
  if (type === 'date') return [...OF_TIME, 'equals', 'not_equals']
  // A property may have any type: numbers and dates in texts compare too.
  return [...OF_TEXT, 'gt', 'gte', 'lt', 'lte', 'before', 'after', 'within_days']
}

/** The input for a value. */
export function fieldFor(operator: PropertyOperator, type: string | undefined): 'text' | 'number' | 'date' | 'yes_no' {
  if (operator === 'before' || operator === 'after') return 'date'
  if (operator === 'within_days') return 'number'
  return type === 'boolean' ? 'yes_no' : 'text'
}
