import { parseTimestamp } from '../platform/time.ts'
import { startOfDayIn } from '../platform/time-zone.ts'

const DATE_ALONE = /^\d{4}-\d{2}-\d{2}$/

/**
 * The moment that a condition compares with. A date alone is that day in a time zone: its start as a lower bound and its
 * end as an upper one, because both bounds are inclusive.
 */
export function boundIn(zone: string, text: string, dayMeans: 'start' | 'end'): Date {
  const bound = parseTimestamp(text, dayMeans)
  if (bound === null) throw new Error('A stored condition compares with a value that is not a timestamp.')
  if (zone === 'UTC' || !DATE_ALONE.test(text)) return bound
  const [year = 0, month = 1, day = 1] = text.split('-').map(Number)
  if (dayMeans === 'start') return startOfDayIn(zone, year, month, day)
  return new Date(startOfDayIn(zone, year, month, day + 1).getTime() - 1)
}

/** Whether conditions compare with a date alone, so that they depend on the tenant's time zone. */
export function nameDays(conditions: unknown): boolean {
  return /"\d{4}-\d{2}-\d{2}"/.test(JSON.stringify(conditions))
}
