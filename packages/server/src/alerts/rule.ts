import Type, { type Static } from 'typebox'
import type { IntervalUnit } from '../insights/intervals.ts'
import type { ErrorDetail } from '../platform/errors.ts'
import { DAY_MS } from '../platform/time.ts'

const OPERATORS = ['above', 'below', 'changed_by'] as const

/** When an alert fires. */
export const Condition = Type.Object(
  {
    operator: Type.Unsafe<(typeof OPERATORS)[number]>({
      type: 'string',
      enum: OPERATORS,
      description:
        'above and below: the limit itself is neither. changed_by: up or down by more than the limit, since the same hour or day of the week before, or since the week or month before.',
    }),
    value: Type.Number({
      description: 'The limit. For from_first, from_previous and a retention, a part of 1, such as 0.2.',
    }),
    percent: Type.Optional(
      Type.Boolean({
        description: 'For changed_by: the limit is in percent of the earlier number. Any change from 0 is above it.',
      }),
    ),
  },
  { title: 'AlertCondition', additionalProperties: false },
)
export type Condition = Static<typeof Condition>

/** The number of an interval, and the earlier one that it is compared with; null where there is none. */
export interface Point {
  interval: string
  value: number | null
  compared: number | null
}

/** What an alert knows from the interval that was judged last. */
export interface Judged {
  interval: string | null
  isMet: boolean
}

/** What the schema cannot check. */
export function problemsOfCondition({ operator, value, percent }: Condition, isRunning: boolean): ErrorDetail[] {
  const isChange = operator === 'changed_by'
  return [
    isChange && value < 0 ? [{ path: 'condition.value', message: 'must be at least 0 for changed_by' }] : [],
    !isChange && percent ? [{ path: 'condition.percent', message: 'must be left out: only changed_by has it' }] : [],
    isRunning && operator !== 'above'
      ? [
          {
            path: 'condition.operator',
            message:
              'must be above: the number of an interval that is not over yet is low at first. Or leave out at.running',
          },
        ]
      : [],
  ].flat()
}

/**
 * Judges intervals in order. An alert fires where its condition becomes true, and again only after it was false; an
 * interval without a number changes nothing.
 * @param isRunning whether the last interval is judged before it is over. Its number begins anew, so that the alert may fire
 * once in each interval.
 */
export function judge(
  condition: Condition,
  points: readonly Point[],
  before: Judged,
  isRunning: boolean,
): { fires: boolean[]; after: Judged } {
  let after = before
  const fires = points.map((point) => {
    const wasMet = after.isMet && (!isRunning || after.interval === point.interval)
    const met = isMet(condition, point) ?? wasMet
    after = { interval: point.interval, isMet: met }
    return met && !wasMet
  })
  return { fires, after }
}

/** Null if nothing can be said. */
function isMet({ operator, value: limit, percent }: Condition, { value, compared }: Point): boolean | null {
  if (value === null) return null
  if (operator === 'above') return value > limit
  if (operator === 'below') return value < limit
  if (compared === null) return null
  const change = Math.abs(value - compared)
  if (!percent) return change > limit
  return compared === 0 ? change > 0 : (change / Math.abs(compared)) * 100 > limit
}

/** How many intervals before the first one are needed to compare it. A clock that is changed makes a week an hour longer. */
export const COMPARED_BEFORE: Record<IntervalUnit, number> = { hour: 169, day: 7, week: 1, month: 1 }

/** For each interval, the index of the one that `changed_by` compares it with, or -1: weeks have a rhythm. */
export function comparedIndexes(unit: IntervalUnit, keys: readonly string[]): number[] {
  if (unit === 'week' || unit === 'month') return keys.map((_, index) => index - 1)
  const indexes = new Map<string, number>()
  for (const [index, key] of keys.entries()) {
    const local = withoutOffset(key)
    // Of an hour that a clock repeats, the first.
    if (!indexes.has(local)) indexes.set(local, index)
  }
  return keys.map((key) => indexes.get(aWeekBefore(withoutOffset(key))) ?? -1)
}

/** `2026-10-25T02:00` of `2026-10-25T02:00+01:00`. */
function withoutOffset(key: string): string {
  return key.slice(0, 'YYYY-MM-DDTHH:MM'.length)
}

function aWeekBefore(local: string): string {
  const day = new Date(Date.parse(local.slice(0, 10)) - 7 * DAY_MS)
  return day.toISOString().slice(0, 10) + local.slice(10)
}
