import { DAY_MS } from '../../platform/time.ts'

export type DayWords = (at: string | Date) => string

/** A day as people say it: "today", "yesterday", "on Tuesday", "on 3 September", "on 3 September 2025". */
export function daysIn(timeZone: string, now: Date): DayWords {
  const date = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  const weekday = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'long' })
  const short = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'long' })
  const long = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'long', year: 'numeric' })
  const dayOf = (at: Date) => Date.parse(date.format(at)) / DAY_MS
  return (moment) => {
    const at = new Date(moment)
    const ago = dayOf(now) - dayOf(at)
    if (ago <= 0) return 'today'
    if (ago === 1) return 'yesterday'
    if (ago < 7) return `on ${weekday.format(at)}`
    return `on ${(date.format(at).slice(0, 4) === date.format(now).slice(0, 4) ? short : long).format(at)}`
  }
}

/** A day as it stands after "since": without "on". */
export function sinceDay(day: string): string {
  return day.replace(/^on /, '')
}
