import type { ErrorDetail } from '../platform/errors.ts'
import { TIMESTAMP_FORM } from '../platform/http/query-parameters.ts'
import { DAY_MS, HOUR_MS, isDateAlone } from '../platform/time.ts'
import { instantOf, type LocalTime, localTime, parseTimestampIn } from '../platform/time-zone.ts'

export const LAST_UNITS = ['hour', 'day', 'week', 'month'] as const
export type LastUnit = (typeof LAST_UNITS)[number]

/** So many whole units: up to the running one, or up to the newest one that is complete. */
interface LastUnits {
  value: number
  unit: LastUnit
  complete?: boolean
}

/** A range as it is sent. */
export interface SentRange {
  date_from?: string
  date_to?: string
  last?: LastUnits
}

/** The first and the last moment of a range, in milliseconds since 1970. */
export interface Range {
  fromMs: number
  untilMs: number
}

/** A range, and how to move it by its own length into the past. */
export interface MovableRange extends Range {
  before(): Range
}

/** What is asked about if no range is sent. */
export const DEFAULT_LAST = { value: 30, unit: 'day' } as const

/**
 * The range of a question. Both ends are in it; a date alone is that day in the time zone. `last` covers whole units, the
 * running one included unless they are all to be complete.
 * @returns the problems with it, if there are any.
 */
export function rangeIn(sent: SentRange, zone: string, now: Date, path = ''): MovableRange | ErrorDetail[] {
  const { date_from: from, date_to: to, last } = sent
  if (last !== undefined && (from !== undefined || to !== undefined)) {
    return [{ path: `${path}last`, message: 'cannot be combined with date_from and date_to: send one of the two' }]
  }
  if (from === undefined && to === undefined) return lastUnits(last ?? DEFAULT_LAST, zone, now)
  if (from === undefined) return [{ path: `${path}date_from`, message: 'is required with date_to' }]
  const [start, end] = [
    parseTimestampIn(zone, from, 'start'),
    to === undefined ? now : parseTimestampIn(zone, to, 'end'),
  ]
  const wrong = [start === null ? 'date_from' : [], end === null ? 'date_to' : []].flat()
  if (start === null || end === null) {
    return wrong.map((name) => ({ path: path + name, message: `must be ${TIMESTAMP_FORM}` }))
  }
  if (end < start) return [{ path: `${path}date_from`, message: 'must not be after date_to' }]
  const range = { fromMs: start.getTime(), untilMs: end.getTime() }
  const isInDays = isDateAlone(from) && (to === undefined || isDateAlone(to))
  return { ...range, before: () => (isInDays ? daysBefore(range, zone) : momentsBefore(range)) }
}

function lastUnits({ value, unit, complete: isComplete = false }: LastUnits, zone: string, now: Date): MovableRange {
  const startOf = (units: number) => startOfUnit(unit, zone, now, units).getTime()
  const end = isComplete ? 0 : 1
  const range = { fromMs: startOf(end - value), untilMs: startOf(end) - 1 }
  return { ...range, before: () => ({ fromMs: startOf(end - 2 * value), untilMs: startOf(end - value) - 1 }) }
}

/** The start of the unit that is so many units after the one in which a moment is. */
export function startOfUnit(unit: LastUnit, zone: string, moment: Date, units: number): Date {
  const local = localTime(zone, moment)
  if (unit === 'hour') {
    const sinceHour = (local.minuteOfDay % 60) * 60_000 + (moment.getTime() % 60_000)
    return new Date(moment.getTime() - sinceHour + units * HOUR_MS)
  }
  const { year, month, day } = local
  if (unit === 'month') return instantOf(zone, dayAfter({ year, month, day: 1 }, 0, units))
  const toMonday = unit === 'week' ? (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7 : 0
  return instantOf(zone, dayAfter(local, units * (unit === 'week' ? 7 : 1) - toMonday))
}

/** The start of a day so many days and months after another. */
function dayAfter({ year, month, day }: Omit<LocalTime, 'minuteOfDay'>, days: number, months = 0): LocalTime {
  const date = new Date(Date.UTC(year, month - 1 + months, day + days))
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), minuteOfDay: 0 }
}

/** As many days before a range of whole days. A range until now is cut at the same time of day. */
function daysBefore({ fromMs, untilMs }: Range, zone: string): Range {
  const [first, last] = [localTime(zone, new Date(fromMs)), localTime(zone, new Date(untilMs))]
  const days = Math.round((utcDay(last) - utcDay(first)) / DAY_MS) + 1
  const start = instantOf(zone, dayAfter(first, -days)).getTime()
  const isWhole = instantOf(zone, dayAfter(last, 1)).getTime() === untilMs + 1
  if (isWhole) return { fromMs: start, untilMs: fromMs - 1 }
  return {
    fromMs: start,
    untilMs: instantOf(zone, { ...dayAfter(last, -days), minuteOfDay: last.minuteOfDay }).getTime(),
  }
}

function utcDay({ year, month, day }: LocalTime): number {
  return Date.UTC(year, month - 1, day)
}

function momentsBefore({ fromMs, untilMs }: Range): Range {
  return { fromMs: fromMs - (untilMs - fromMs) - 1, untilMs: fromMs - 1 }
}
