import { startOfUnit } from '../insights/range.ts'
import { MINUTE_MS } from '../platform/time.ts'
import { instantOf, localTime } from '../platform/time-zone.ts'

const MAIL_HOUR = 8

/** The first Monday at 08:00 after a moment. */
export function nextMailAt(zone: string, now: Date): Date {
  const thisWeek = mailTimeOf(zone, now, 0)
  return thisWeek > now ? thisWeek : mailTimeOf(zone, now, 1)
}

/** Whether it is Monday and 08:00 or later. A mail that could not be sent on its Monday is left out. */
export function isMailTime(zone: string, now: Date): boolean {
  const due = mailTimeOf(zone, now, 0)
  return now >= due && now < startOfUnit('day', zone, due, 1)
}

function mailTimeOf(zone: string, now: Date, weeks: number): Date {
  const monday = localTime(zone, startOfUnit('week', zone, now, weeks))
  return instantOf(zone, { ...monday, minuteOfDay: MAIL_HOUR * 60 })
}

/** The days of the week that was over so many weeks ago. 0: the one before the running week. */
export function completeWeek(zone: string, now: Date, weeksAgo: number): { date_from: string; date_to: string } {
  const last = startOfUnit('week', zone, now, -weeksAgo).getTime() - MINUTE_MS
  return {
    date_from: dayKey(zone, startOfUnit('week', zone, now, -weeksAgo - 1)),
    date_to: dayKey(zone, new Date(last)),
  }
}

function dayKey(zone: string, moment: Date): string {
  const { year, month, day } = localTime(zone, moment)
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)
}
