import { localDay } from '../session/time-zone.ts'
import { daysOfPeriod } from '../ui/range.ts'
import type { Interval } from './question.ts'

/** The unit of an interval, which its key shows: `2026-01-31`, `2026-W05`, `2026-01`, `2026-01-31T08:00+01:00`. */
export function unitOf(key: string): Interval {
  if (key.includes('T')) return 'hour'
  if (key.includes('W')) return 'week'
  return key.length === 10 ? 'day' : 'month'
}

const HOUR_MS = 3_600_000

const DAY_SHORT = formatDayIn({ day: 'numeric', month: 'short' })
const DAY_LONG = formatDayIn({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const MIDDLE = { day: 'numeric', month: 'short', year: 'numeric' } as const
const DAY_MIDDLE = formatDayIn(MIDDLE)
const DAYS_MIDDLE = new Intl.DateTimeFormat(undefined, { ...MIDDLE, timeZone: 'UTC' })
const MONTH_SHORT = formatDayIn({ month: 'short', year: '2-digit' })
const MONTH_LONG = formatDayIn({ month: 'long', year: 'numeric' })

/** The key of an interval on an axis: "3 Mar", "03:00", "Mar 26". */
export function shortInterval(unit: Interval, key: string): string {
  if (unit === 'hour') return key.slice(11, 16) === '00:00' ? DAY_SHORT(key.slice(0, 10)) : key.slice(11, 16)
  return unit === 'month' ? MONTH_SHORT(daysOfPeriod(key).from) : DAY_SHORT(daysOfPeriod(key).from)
}

/** The same in full: "Tuesday 3 March 2026", "3 Mar 2026, 03:00", "2–8 Mar 2026", "March 2026". */
export function longInterval(unit: Interval, key: string): string {
  switch (unit) {
    case 'hour':
      return `${DAY_MIDDLE(key.slice(0, 10))}, ${key.slice(11, 16)}`
    case 'day':
      return DAY_LONG(key)
    case 'week': {
      const { from, to } = daysOfPeriod(key)
      return DAYS_MIDDLE.formatRange(new Date(from), new Date(to))
    }
    case 'month':
      return MONTH_LONG(daysOfPeriod(key).from)
  }
}

/** The same for a narrow column: "3 Mar 2026". */
export function mediumInterval(unit: Interval, key: string): string {
  return unit === 'day' ? DAY_MIDDLE(key) : longInterval(unit, key)
}

/** Whether an interval is over, is running, or has not begun, in the time zone of the workspace. */
export function stateOfInterval(unit: Interval, key: string, now = new Date()): 'over' | 'running' | 'future' {
  if (unit === 'hour') {
    const start = Date.parse(key)
    if (start > now.getTime()) return 'future'
    return start + HOUR_MS > now.getTime() ? 'running' : 'over'
  }
  const { from, to } = daysOfPeriod(key)
  const today = localDay(now)
  if (from > today) return 'future'
  return to >= today ? 'running' : 'over'
}

function formatDayIn(options: Intl.DateTimeFormatOptions): (day: string) => string {
  const format = new Intl.DateTimeFormat(undefined, { ...options, timeZone: 'UTC' })
  return (day) => format.format(new Date(day))
}
