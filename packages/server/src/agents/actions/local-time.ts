import { MINUTE_MS } from '../../platform/time.ts'

/** A span of wall-clock time, which may include midnight. */
export interface QuietHours {
  /** `HH:MM`, inclusive. */
  from: string
  /** `HH:MM`, exclusive. */
  to: string
}

interface LocalTime {
  year: number
  /** 1 to 12. */
  month: number
  day: number
  minuteOfDay: number
}

const CLOCK_TIME = /^([01]\d|2[0-3]):([0-5]\d)$/

/** Minutes since midnight; null if the text is not `HH:MM`. */
export function minuteOf(text: string): number | null {
  const match = CLOCK_TIME.exec(text)
  return match ? Number(match[1]) * 60 + Number(match[2]) : null
}

/** When the current quiet hours end; null outside quiet hours. */
export function quietUntil({ from, to }: QuietHours, timeZone: string, now: Date): Date | null {
  const [start, end] = [minuteOf(from), minuteOf(to)]
  if (start === null || end === null || start === end) return null
  const local = localTime(timeZone, now)
  const { minuteOfDay } = local
  const overMidnight = start > end
  const isQuiet = overMidnight ? minuteOfDay >= start || minuteOfDay < end : minuteOfDay >= start && minuteOfDay < end
  if (!isQuiet) return null
  const days = overMidnight && minuteOfDay >= start ? 1 : 0
  return instantOf(timeZone, { ...local, day: local.day + days, minuteOfDay: end })
}

/** The start and the end of the local day. */
export function dayOf(timeZone: string, now: Date): { start: Date; end: Date } {
  const local = { ...localTime(timeZone, now), minuteOfDay: 0 }
  return { start: instantOf(timeZone, local), end: instantOf(timeZone, { ...local, day: local.day + 1 }) }
}

function localTime(timeZone: string, moment: Date): LocalTime {
  const options = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  const format = new Intl.DateTimeFormat('en', { ...options, calendar: 'gregory', hourCycle: 'h23', timeZone })
  const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts
  return { year, month, day, minuteOfDay: hour * 60 + minute }
}

/** Converts a local time to an instant. A time that the clocks skip becomes the instant of the change or shortly after. */
function instantOf(timeZone: string, local: LocalTime): Date {
  const asUtc = utcOf(local)
  const offsetAt = (moment: number) => utcOf(localTime(timeZone, new Date(moment))) - moment
  // The first guess may use the offset from the other side of a clock change. The second one is correct.
  const guess = asUtc - offsetAt(asUtc)
  return new Date(asUtc - offsetAt(guess))
}

function utcOf({ year, month, day, minuteOfDay }: LocalTime): number {
  return Date.UTC(year, month - 1, day) + minuteOfDay * MINUTE_MS
}
