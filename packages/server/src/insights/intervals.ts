import Type from 'typebox'
import { offsetInSql } from '../platform/clickhouse/zone-offset.ts'
import type { ErrorDetail } from '../platform/errors.ts'
import { DAY_MS, HOUR_MS } from '../platform/time.ts'
import { hourKey, type Offset, offsetsBetween } from '../platform/time-zone.ts'
import type { Asked } from './question.ts'
import type { Range } from './range.ts'

export const INTERVALS = ['hour', 'day', 'week', 'month'] as const
export type IntervalUnit = (typeof INTERVALS)[number]

/** Hours of a quarter and of a week before it, or days of six years. */
const INTERVALS_MAX = 2_400

/** The field of a question. */
export const LongerInterval = Type.Optional(
  Type.Boolean({
    default: false,
    description: `If the range has more than ${INTERVALS_MAX} intervals, the next longer one that fits takes the place of \`interval\`. The keys in the answer show which. By default, that is an error.`,
  }),
)

/** When an event happened. Days and weeks are divided from it at once, because each further step costs every event. */
const UNIX_MS = 'toUnixTimestamp64Milli(timestamp)'

/** The intervals of a range, in order. The range may cut the first and the last. */
export interface Intervals {
  unit: IntervalUnit
  /** `2026-10-25T02:00+01:00`, `2026-10-25`, `2026-W43` or `2026-10`. */
  keys: string[]
  /**
   * When each begins, in milliseconds since 1970, whole: also before the range. Those after the range that were asked for
   * follow, and the end of the last.
   */
  starts: number[]
  /** The interval of an event in ClickHouse, counted from 0; those after the range go on counting. */
  indexInSql: string
}

/** The unit that divides a question's ranges: the one that was sent, or a longer one if that may take its place. */
export function unitOf(
  { interval, longer_interval: mayBeLonger }: { interval?: IntervalUnit; longer_interval?: boolean },
  { range, compared }: Pick<Asked, 'range' | 'compared'>,
  byDefault: IntervalUnit = 'day',
): IntervalUnit {
  const unit = interval ?? byDefault
  if (!mayBeLonger) return unit
  const ranges = compared === null ? [range] : [range, compared]
  const longer = INTERVALS.slice(INTERVALS.indexOf(unit))
  return longer.find((each) => ranges.every((one) => isFew(each, one))) ?? unit
}

const LENGTHS_MS: Record<IntervalUnit, number> = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS, month: 28 * DAY_MS }

function isFew(unit: IntervalUnit, { fromMs, untilMs }: Range): boolean {
  return (untilMs - fromMs) / LENGTHS_MS[unit] <= INTERVALS_MAX
}

/**
 * @param further how many intervals after the range are looked at, too
 * @returns the problem, if there are too many.
 */
export function intervalsOf(
  unit: IntervalUnit,
  { fromMs, untilMs }: Range,
  zone: string,
  further = 0,
): Intervals | ErrorDetail[] {
  if (!isFew(unit, { fromMs, untilMs })) {
    return [{ path: 'interval', message: `must be longer: this range has more than ${INTERVALS_MAX} of them` }]
  }
  const longest = unit === 'month' ? 31 * DAY_MS : LENGTHS_MS[unit]
  const offsets = offsetsBetween(zone, fromMs - 2 * DAY_MS, untilMs + (further + 1) * longest + 2 * DAY_MS)
  return unit === 'hour'
    ? hoursOf({ fromMs, untilMs }, offsets, further)
    : daysOf(unit, { fromMs, untilMs }, offsets, further)
}

/** The offset at a moment, in seconds. */
function offsetAt(offsets: readonly Offset[], moment: number): number {
  return (offsets.findLast(({ sinceMs }) => sinceMs <= moment) ?? offsets[0])?.seconds ?? 0
}

/** Hours begin where a clock shows a whole hour, and where it is changed. */
function hoursOf({ fromMs, untilMs }: Range, offsets: readonly Offset[], further: number): Intervals {
  const [keys, starts]: [string[], number[]] = [[], []]
  const startOf = (moment: number) => moment - mod(moment + offsetAt(offsets, moment) * 1000, HOUR_MS)
  let start = startOf(fromMs)
  while (start <= untilMs || starts.length < keys.length + further) {
    if (start <= untilMs) keys.push(hourKey(start, offsetAt(offsets, start)))
    starts.push(start)
    const change = offsets.find(({ sinceMs }) => sinceMs > start)?.sinceMs ?? Number.POSITIVE_INFINITY
    start = Math.min(start + HOUR_MS, change)
  }
  starts.push(start)
  const isRegular = offsets.every(({ seconds }) => mod(seconds - (offsets[0]?.seconds ?? 0), 3600) === 0)
  // Lord Howe Island changes its clocks by half an hour.
  const indexInSql = isRegular
    ? `intDiv(${UNIX_MS} - ${starts[0] ?? 0}, ${HOUR_MS})`
    : `arrayLastIndex(start -> start <= ${UNIX_MS}, [${starts}]) - 1`
  return { unit: 'hour', keys, starts, indexInSql }
}

function mod(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor
}

/** Days, weeks and months of a calendar, as numbers: see `CALENDAR`. */
function daysOf(
  unit: Exclude<IntervalUnit, 'hour'>,
  { fromMs, untilMs }: Range,
  offsets: readonly Offset[],
  further: number,
): Intervals {
  const { numberOf, firstDayOf, keyOf } = CALENDAR[unit]
  const dayAt = (moment: number) => Math.floor((moment + offsetAt(offsets, moment) * 1000) / DAY_MS)
  const [first, last] = [numberOf(dayAt(fromMs)), numberOf(dayAt(untilMs))]
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const local = `${UNIX_MS} + ${offsetInSql(UNIX_MS, offsets, 1000)}`
  const month = `toDate(intDiv(${local}, ${DAY_MS}))`
  return {
    unit,
    keys: numbers.map((number) => keyOf(new Date(firstDayOf(number) * DAY_MS))),
    starts: Array.from({ length: numbers.length + further + 1 }, (_, index) =>
      startOfDay(firstDayOf(first + index), offsets),
    ),
    indexInSql:
      unit === 'month'
        ? `toYear(${month}) * 12 + toMonth(${month}) - ${first + 1}`
        : `intDiv(${local} - ${firstDayOf(first) * DAY_MS}, ${(firstDayOf(1) - firstDayOf(0)) * DAY_MS})`,
  }
}

/** When a local day begins. Where a clock is changed at midnight, at the change. */
function startOfDay(day: number, offsets: readonly Offset[]): number {
  const local = day * DAY_MS
  const candidates = offsets.map(({ seconds }) => local - seconds * 1000)
  const isRight = (moment: number) => moment + offsetAt(offsets, moment) * 1000 === local
  const exact = candidates.filter(isRight)
  if (exact.length > 0) return Math.min(...exact)
  // The clock skips midnight.
  return offsets.find(({ sinceMs, seconds }) => sinceMs + seconds * 1000 > local)?.sinceMs ?? local
}

interface Calendar {
  /** The number of the unit in which a day is; days are counted from 1970-01-01. */
  numberOf(day: number): number
  firstDayOf(number: number): number
  keyOf(firstDay: Date): string
}

const dateOf = (day: number) => new Date(day * DAY_MS)

const CALENDAR: Record<Exclude<IntervalUnit, 'hour'>, Calendar> = {
  day: {
    numberOf: (day) => day,
    firstDayOf: (number) => number,
    keyOf: (date) => date.toISOString().slice(0, 10),
  },
  // 1970-01-01 was a Thursday.
  week: {
    numberOf: (day) => Math.floor((day + 3) / 7),
    firstDayOf: (number) => number * 7 - 3,
    keyOf: isoWeek,
  },
  month: {
    numberOf: (day) => dateOf(day).getUTCFullYear() * 12 + dateOf(day).getUTCMonth(),
    firstDayOf: (number) => Date.UTC(Math.floor(number / 12), number % 12) / DAY_MS,
    keyOf: (date) => date.toISOString().slice(0, 7),
  },
}

/** `2026-W43`, of a Monday. A week belongs to the year of its Thursday. */
function isoWeek(monday: Date): string {
  const thursday = new Date(monday.getTime() + 3 * DAY_MS)
  const year = thursday.getUTCFullYear()
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0)) / (7 * DAY_MS)) + 1
  return `${year}-W${String(week).padStart(2, '0')}`
}
