import { ServiceError } from '../../platform/errors.ts'
import type { ToolCall } from '../tool.ts'

/** Comparisons with a whole value, which one has to know. */
const WITH_WHOLE_VALUE = ['equals', 'not_equals', 'in', 'not_in', 'is_set', 'is_not_set']
/** Deeper filters are rejected by the operation. */
const LEVELS_MAX = 20

/**
 * Refuses conditions that compare a part of a hidden value, or its order: with a few dozen of them, a caller could read
 * the value character by character.
 * @throws ServiceError 400 `hidden_property`
 */
export async function requireWholeValues(call: ToolCall, filter: unknown): Promise<void> {
  if (!call.isRedacted) return
  for (const { property, operator } of conditionsIn(filter, 1)) {
    if (WITH_WHOLE_VALUE.includes(operator) || !(await call.isHidden(property))) continue
    const message = `Values of ${property} are hidden from this connection, so conditions on it can only use ${WITH_WHOLE_VALUE.join(', ')}.`
    throw hiddenProperty(message)
  }
}

export function hiddenProperty(message: string): ServiceError {
  return new ServiceError(400, 'hidden_property', message)
}

function conditionsIn(filter: unknown, level: number): { property: string; operator: string }[] {
  if (filter === null || typeof filter !== 'object' || level > LEVELS_MAX) return []
  if (Array.isArray(filter)) return filter.flatMap((each) => conditionsIn(each, level + 1))
  const { property, operator, conditions } = filter as Record<string, unknown>
  const own = typeof property === 'string' && typeof operator === 'string' ? [{ property, operator }] : []
  return [...own, ...conditionsIn(conditions, level + 1)]
}
