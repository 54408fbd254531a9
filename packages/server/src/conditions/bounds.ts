import { parseTimestampIn } from '../platform/time-zone.ts'

/**
 * The moment that a condition compares with. A date alone is that day in a time zone: its start as a lower bound and its
 * end as an upper one, because both bounds are inclusive.
 */
export function boundIn(zone: string, text: string, dayMeans: 'start' | 'end'): Date {
  const bound = parseTimestampIn(zone, text, dayMeans)
  if (bound === null) throw new Error('A stored condition compares with a value that is not a timestamp.')
  return bound
}

/** Whether conditions compare with a date alone, so that they depend on the tenant's time zone. */
export function nameDays(conditions: unknown): boolean {
  return /"\d{4}-\d{2}-\d{2}"/.test(JSON.stringify(conditions))
}
