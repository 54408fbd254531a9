import { formatIn } from '../session/time-zone.ts'

const MOMENT = formatIn({ dateStyle: 'medium', timeStyle: 'long' })
const DAY_PARTS = { day: 'numeric', month: 'short', year: 'numeric' } as const
const DAY = formatIn(DAY_PARTS)
/** A calendar day is the same everywhere: west of Greenwich, midnight UTC would be the day before. */
const CALENDAR = new Intl.DateTimeFormat(undefined, { ...DAY_PARTS, timeZone: 'UTC' })
const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const
/** Clocks differ by as much: what seems to be this far in the future has just happened. */
const CLOCK_DIFFERENCE_MS = 5_000

export function formatMoment(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? at : MOMENT(date)
}

/** A time as a day in the workspace's time zone, or a calendar day (`2026-01-31`). */
export function formatDay(at: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return at
  return at.length === 10 ? CALENDAR.format(date) : DAY(date)
}

/** "3 hr. ago", "in 45 sec." or "in 7 days" within a month, else the date. The past is rounded down, the future to the nearest. */
export function formatAgo(at: string): string {
  const age = new Date(at).getTime() - Date.now()
  if (Number.isNaN(age) || Math.abs(age) > 30 * 86_400_000) return formatDay(at)
  for (const [unit, length] of UNITS) {
    if (Math.abs(age) >= length) return AGO.format(age < 0 ? Math.trunc(age / length) : Math.round(age / length), unit)
  }
  return age > CLOCK_DIFFERENCE_MS ? AGO.format(Math.round(age / 1_000), 'second') : 'just now'
}

const NUMBER = new Intl.NumberFormat()

export function formatNumber(value: number): string {
  return NUMBER.format(value)
}

/** "45 s", "3 min", "1 h 5 min", whose numbers stay with their units; empty below a second. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 1) return ''
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole}\u00a0s`
  const minutes = Math.round(whole / 60)
  if (minutes < 60) return `${minutes}\u00a0min`
  const rest = minutes % 60
  const hours = `${Math.floor(minutes / 60)}\u00a0h`
  return rest === 0 ? hours : `${hours} ${rest}\u00a0min`
}

/** The latest of some times; null if there is none. */
export function latestOf(times: readonly (string | null)[]): string | null {
  return times.reduce((latest, at) => (latest === null || (at !== null && at > latest) ? at : latest), null)
}
