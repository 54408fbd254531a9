/** The service's clock. All code that stores or compares the current time uses it, so that tests can move it. */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
/** A day of UTC, which always has 24 hours. */
export const DAY_MS = 24 * HOUR_MS
export const MINUTE_SECONDS = 60
export const HOUR_SECONDS = 3_600
export const DAY_SECONDS = 24 * HOUR_SECONDS

/** The later of two times; null is none. */
export function laterOf(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d{2}:?\d{2})$/

/** Later times have five-digit years, which the databases cannot parse. */
export const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Whether a date without a time means the first or the last millisecond of that day (UTC). */
export type DayMeans = 'start' | 'end'

/**
 * Parses an ISO 8601 timestamp with an offset, or a date alone (UTC).
 * @returns null for any other text or a day that does not exist (2026-02-30).
 */
export function parseTimestamp(text: string, dayMeans: DayMeans = 'start'): Date | null {
  const day = DATE.exec(text)
  if (day) {
    const start = utcDay(day)
    if (start === null) return null
    return new Date(dayMeans === 'end' ? start + DAY_MS - 1 : start)
  }
  const match = DATE_TIME.exec(text)
  if (!match) return null
  const start = utcDay(match)
  const [hours, minutes, seconds] = [Number(match[4]), Number(match[5]), Number(match[6] ?? 0)]
  const offset = offsetMinutes(match[8] ?? 'Z')
  if (start === null || offset === null || hours > 23 || minutes > 59 || seconds > 59) return null
  const milliseconds = Number((match[7] ?? '0').padEnd(3, '0').slice(0, 3))
  const time = start + ((hours * 60 + minutes - offset) * 60 + seconds) * 1000 + milliseconds
  // An offset can move the last day of 9999 into the next year.
  return time > LATEST_MS ? null : new Date(time)
}

/** Whether a text is a date without a time, such as `2026-02-28`. */
export function isDateAlone(text: string): boolean {
  return DATE.test(text)
}

function utcDay(match: RegExpExecArray): number | null {
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const start = Date.UTC(year, month - 1, day)
  const date = new Date(start)
  // Date.UTC rolls 02-30 over into March, and reads the years 0 to 99 as 1900 to 1999.
  const exists = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return exists ? start : null
}

function offsetMinutes(text: string): number | null {
  if (text === 'Z' || text === 'z') return 0
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(-2))]
  if (hours > 23 || minutes > 59) return null
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

const MILLISECONDS_FROM = 1e11

/** The unit of a number since 1970, in milliseconds: seconds below 1e11 (the year 5138), else milliseconds (from 1973). */
export function unitSinceEpoch(number: number): number {
  return number < MILLISECONDS_FROM ? 1000 : 1
}

/** A number since 1970 as a time, see `unitSinceEpoch`; null if there is no such day. */
export function sinceEpoch(number: number): Date | null {
  const unit = unitSinceEpoch(number)
  // 1577836800.123 seconds are 1577836800122.9999 milliseconds.
  const time = new Date(unit === 1 ? number : Math.round(number * unit))
  return Number.isNaN(time.getTime()) ? null : time
}
