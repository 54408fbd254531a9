const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const DAY_PARTS = { day: 'numeric', month: 'short', year: 'numeric' } as const
const DAY = new Intl.DateTimeFormat(undefined, DAY_PARTS)
/** A calendar day is the same everywhere: west of Greenwich, midnight UTC would be the day before. */
const CALENDAR_DAY = new Intl.DateTimeFormat(undefined, { ...DAY_PARTS, timeZone: 'UTC' })
const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

export function formatMoment(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? at : MOMENT.format(date)
}

/** A time as a day in the reader's time zone, or a calendar day (`2026-01-31`). */
export function formatDay(at: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return at
  return (at.length === 10 ? CALENDAR_DAY : DAY).format(date)
}

/** "3 hr. ago" within a month, else the date. */
export function formatAgo(at: string): string {
  const age = new Date(at).getTime() - Date.now()
  if (Number.isNaN(age) || Math.abs(age) > 30 * 86_400_000) return formatDay(at)
  for (const [unit, length] of UNITS) {
    if (Math.abs(age) >= length) return AGO.format(Math.trunc(age / length), unit)
  }
  return 'just now'
}

const NUMBER = new Intl.NumberFormat()

export function formatNumber(value: number): string {
  return NUMBER.format(value)
}
