import { instantOf, localTime } from '../../platform/time-zone.ts'

/** A span of wall-clock time, which may include midnight. */
export interface QuietHours {
  /** `HH:MM`, inclusive. */
  from: string
  /** `HH:MM`, exclusive. */
  to: string
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
