import { nameDays } from '../conditions/bounds.ts'
import type { ConditionOnEvent } from '../conditions/language.ts'
import { parseWhere } from '../conditions/parse.ts'
import { validationError } from '../platform/errors.ts'

/**
 * Parses the conditions of a subscription. They are checked when an event is recorded, so they are on the event alone.
 * @throws ServiceError 400 naming every invalid field.
 */
export function parseSubscriptionWhere(sent: unknown): ConditionOnEvent[] {
  const where = parseWhere(sent, { contacts: null })
  // Which day a date alone means would change with the time zone of the tenant.
  if (!nameDays(where)) return where
  throw validationError([{ path: 'where', message: 'must have a time with each date, such as 2026-05-01T00:00:00Z' }])
}
