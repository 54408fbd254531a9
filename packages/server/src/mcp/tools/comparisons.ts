import { ServiceError } from '../../platform/errors.ts'
import type { ToolCall } from '../tool.ts'

/** Comparisons with a whole value. They tell a caller nothing who does not know the value. */
const WITH_WHOLE_VALUE = ['equals', 'not_equals', 'in', 'not_in', 'is_set', 'is_not_set']
/** With more values in one filter, a caller could try all numbers of a city. */
const CANDIDATES_MAX = 50
type Entity = 'contacts' | 'companies'

/**
 * Refuses conditions that would reveal a hidden value step by step: comparisons with a part of it or by order, and comparisons
 * of a pseudonym with a visible property, to which a caller can write.
 * @param sent a filter or a question; its conditions count at any depth, also those on events
 * @throws ServiceError 400 `hidden_property`, `pseudonym_not_allowed`
 */
export async function checkComparisons(call: ToolCall, entity: Entity, sent: unknown): Promise<void> {
  if (!call.isRedacted) return
  let candidates = 0
  for (const condition of conditionsIn(sent)) {
    const { property, operator } = condition
    if (typeof property !== 'string' || !(await isHidden(call, entity, property))) call.refusePseudonyms(condition)
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

/** Whether a condition is about a hidden property, of the entity or as events name it. */
async function isHidden(call: ToolCall, entity: Entity, property: string): Promise<boolean> {
  const [, owner, key = ''] = /^(contact|company|data)\.(.+)/s.exec(property) ?? []
  if (owner === undefined) return call.isHidden(entity, property)
  return call.isHidden(owner === 'company' ? 'companies' : 'contacts', key)
}

/** The objects in a value at any depth, each without those within it. */
function conditionsIn(sent: unknown): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = []
  const waiting = [sent]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (value === null || typeof value !== 'object') continue
    const inner = Object.entries(value)
    if (!Array.isArray(value)) found.push(Object.fromEntries(inner.filter(([, each]) => !hasObjects(each))))
    waiting.push(...inner.map(([, each]) => each))
  }
  return found
}

function hasObjects(value: unknown): boolean {
  return [value].flat().some((each) => each !== null && typeof each === 'object')
}
