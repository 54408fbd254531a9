import { ServiceError } from '../../platform/errors.ts'
import type { ToolCall } from '../tool.ts'

/** Comparisons with a whole value. They tell a caller nothing who does not know the value. */
const WITH_WHOLE_VALUE = ['equals', 'not_equals', 'in', 'not_in', 'is_set', 'is_not_set']
/** With more values in one filter, a caller could try all numbers of a city. */
const CANDIDATES_MAX = 50
/** Deeper filters are rejected by the operation. */
const LEVELS_MAX = 20

type Entity = 'contacts' | 'companies'

/**
 * Refuses conditions that would reveal a hidden value step by step: comparisons with a part of it or by order, and comparisons
 * of a pseudonym with a visible property, to which a caller can write.
 * @throws ServiceError 400 `hidden_property`, `pseudonym_not_allowed`
 */
export async function checkComparisons(call: ToolCall, entity: Entity, filter: unknown): Promise<void> {
  if (!call.isRedacted) return
  let candidates = 0
  for (const condition of conditionsIn(filter, 1)) {
    const { property, operator } = condition
    if (typeof property !== 'string' || !(await call.isHidden(entity, property))) call.refusePseudonyms(condition)
    else if (typeof operator === 'string' && !WITH_WHOLE_VALUE.includes(operator)) {
      const message = `Values of ${property} are hidden from this connection, so conditions on it can only use ${WITH_WHOLE_VALUE.join(', ')}.`
      throw hiddenProperty(message)
    } else {
      candidates += [condition.value].flat().length
      if (candidates > CANDIDATES_MAX) throw tooManyCandidates(property)
    }
  }
}

/**
 * Refuses to calculate with a hidden property, which would reveal its values.
 * @throws ServiceError 400 `hidden_property`
 */
export async function requireVisible(call: ToolCall, entity: Entity, property: string | undefined): Promise<void> {
  if (property === undefined || !(await call.isHidden(entity, property))) return
  throw hiddenProperty(`Values of ${property} are hidden from this connection, so they cannot be added up.`)
}

/** The fields to sort by that have no texts. */
const SORTS = ['createdate']

export const SORT_DESCRIPTION = `If personal data is hidden, only ${SORTS.join(', ')} works.`

/**
 * Refuses to sort by a text. Its place among values that the caller wrote would reveal it letter by letter: a hidden
 * property's, and the name of a person in a visible one, such as the company "Ada Lovelace Consulting".
 * @throws ServiceError 400 `hidden_property`
 */
export function requireSortable(call: ToolCall, sortBy: string | undefined): void {
  if (!call.isRedacted || sortBy === undefined || SORTS.includes(sortBy)) return
  const message = `Personal data is hidden from this connection, and the order of ${sortBy} would reveal it. Use sort_by: ${SORTS.join(', ')}.`
  throw hiddenProperty(message)
}

function tooManyCandidates(property: string): ServiceError {
  const message = `Values of ${property} are hidden from this connection, so a filter can compare hidden values with at most ${CANDIDATES_MAX} others.`
  return hiddenProperty(message)
}

function hiddenProperty(message: string): ServiceError {
  return new ServiceError(400, 'hidden_property', message)
}

/** The conditions of a filter, without those nested in them. */
function conditionsIn(filter: unknown, level: number): Record<string, unknown>[] {
  if (filter === null || typeof filter !== 'object' || level > LEVELS_MAX) return []
  if (Array.isArray(filter)) return filter.flatMap((each) => conditionsIn(each, level + 1))
  const { conditions, ...own } = filter as Record<string, unknown>
  return [own, ...conditionsIn(conditions, level + 1)]
}
