import type { ErrorDetail } from './errors.ts'
import { DAY_MS, type DayMeans, isDateAlone, LATEST_MS, MINUTE_MS, parseTimestamp } from './time.ts'

/** The characters of the longest name. */
export const ZONE_LENGTH_MAX = 64

/** Whether a text is a time zone name, such as `Europe/Berlin`. Offsets are rejected, because they ignore summer time. */
export function isTimeZone(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > ZONE_LENGTH_MAX || !/^[A-Za-z]/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}

/** What is wrong with the time zone in a field; nothing if there is none. */
export function problemsOfZone(path: string, zone: string | undefined): ErrorDetail[] {
  if (zone === undefined || isTimeZone(zone)) return []
  return [{ path, message: 'must be an IANA time zone such as Europe/Berlin' }]
}

/** The name that the databases know a time zone by: they distinguish upper and lower case. */
export function canonicalZone(zone: string): string {
  return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
}

/** A wall-clock time. */
export interface LocalTime {
  year: number
  /** 1 to 12. */
  month: number
  day: number
  minuteOfDay: number
}

export function localTime(timeZone: string, moment: Date): LocalTime {
  return partsOf(formatOf(timeZone), moment.getTime())
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const options = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  return new Intl.DateTimeFormat('en', { ...options, calendar: 'gregory', hourCycle: 'h23', timeZone })
}

function partsOf(format: Intl.DateTimeFormat, moment: number): LocalTime {
  const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts
  return { year, month, day, minuteOfDay: hour * 60 + minute }
}

/**
 * Converts a local time to an instant. A time that the clocks skip becomes the instant of the change or shortly after, and
 * of one that they repeat, the first counts.
 */
export function instantOf(timeZone: string, local: LocalTime): Date {
  const asUtc = utcOf(local)
  const offsetAt = (moment: number) => utcOf(localTime(timeZone, new Date(moment))) - moment
  // No clock differs by more than 14 hours from UTC, so these are the offsets before and after a change near the time.
  const [before, after] = [offsetAt(asUtc - DAY_MS), offsetAt(asUtc + DAY_MS)]
  const isRight = (offset: number) => offsetAt(asUtc - offset) === offset
  return new Date(asUtc - (isRight(before) || !isRight(after) ? before : after))
}

function utcOf({ year, month, day, minuteOfDay }: LocalTime): number {
  return Date.UTC(year, month - 1, day) + minuteOfDay * MINUTE_MS
}

/** An offset from UTC, and since when clocks have it. */
export interface Offset {
  sinceMs: number
  seconds: number
}

/** The shortest time for which a zone kept an offset is longer: Egypt's and Morocco's, around a Ramadan. */
const SAMPLE_MS = 7 * DAY_MS

/** The offsets of a time zone in a span of time, in order. */
export function offsetsBetween(timeZone: string, fromMs: number, untilMs: number): Offset[] {
  const format = formatOf(timeZone)
  const secondsAt = (moment: number) => {
    const wholeMinute = Math.floor(moment / MINUTE_MS) * MINUTE_MS
    return (utcOf(partsOf(format, wholeMinute)) - wholeMinute) / 1000
  }
  const offsets = [{ sinceMs: fromMs, seconds: secondsAt(fromMs) }]
  for (let at = fromMs; at < untilMs; at += SAMPLE_MS) {
    const seconds = secondsAt(at + SAMPLE_MS)
    const before = offsets.at(-1)?.seconds
    if (seconds === before) continue
    let [same, changed] = [at, at + SAMPLE_MS]
    while (changed - same > 1000) {
      const middle = Math.floor((same + changed) / 2000) * 1000
      if (secondsAt(middle) === before) same = middle
      else changed = middle
    }
    offsets.push({ sinceMs: changed, seconds })
  }
  return offsets
}

/** Parses a timestamp as `parseTimestamp` does, but a date alone is that day in the time zone. */
export function parseTimestampIn(timeZone: string, text: string, dayMeans: DayMeans): Date | null {
  const time = parseTimestamp(text, dayMeans)
  if (time === null || timeZone === 'UTC' || !isDateAlone(text)) return time
  const local = { year: time.getUTCFullYear(), month: time.getUTCMonth() + 1, day: time.getUTCDate(), minuteOfDay: 0 }
  if (dayMeans === 'start') return instantOf(timeZone, local)
  const next = instantOf(timeZone, { ...local, day: local.day + 1 }).getTime()
  return new Date(Math.min(next - 1, LATEST_MS))
}

/** A local hour, `2026-10-25T02:00+01:00`. @param startMs when it begins @param seconds the offset from UTC */
export function hourKey(startMs: number, seconds: number): string {
  const local = new Date(startMs + seconds * 1000).toISOString().slice(0, 13)
  const minutes = Math.abs(seconds) / 60
  const parts = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'))
  return `${local}:00${seconds < 0 ? '-' : '+'}${parts.join(':')}`
}
