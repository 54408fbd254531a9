import type { ErrorDetail } from './errors.ts'
import { MINUTE_MS } from './time.ts'

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

/** A moment on the clocks and calendars of a time zone. */
interface LocalTime {
  year: number
  /** 1 to 12. */
  month: number
  day: number
  minuteOfDay: number
}

export function localTime(timeZone: string, moment: Date): LocalTime {
  const options = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  const format = new Intl.DateTimeFormat('en', { ...options, calendar: 'gregory', hourCycle: 'h23', timeZone })
  const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts
  return { year, month, day, minuteOfDay: hour * 60 + minute }
}

/** Converts a local time to an instant. A time that the clocks skip becomes the instant of the change or shortly after. */
export function instantOf(timeZone: string, local: LocalTime): Date {
  const asUtc = utcOf(local)
  const offsetAt = (moment: number) => utcOf(localTime(timeZone, new Date(moment))) - moment
  // The first guess may use the offset from the other side of a clock change. The second one is correct.
  const guess = asUtc - offsetAt(asUtc)
  return new Date(asUtc - offsetAt(guess))
}

function utcOf({ year, month, day, minuteOfDay }: LocalTime): number {
  return Date.UTC(year, month - 1, day) + minuteOfDay * MINUTE_MS
}

/** When a day starts in a time zone. */
export function startOfDayIn(timeZone: string, year: number, month: number, day: number): Date {
  return instantOf(timeZone, { year, month, day, minuteOfDay: 0 })
}
