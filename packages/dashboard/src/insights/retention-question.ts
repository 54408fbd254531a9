import type { InsightRetentionInput } from '../api/types.ts'
import { INTERVALS, isMeant, isNumber, isOneOf, isShared } from './question.ts'

export type RetentionQuestion = InsightRetentionInput

export const MODES = ['on', 'on_or_after'] as const
/** The service's limits, and what it takes without a number. */
export const INTERVALS_MIN = 2
export const INTERVALS_MAX = 30
export const INTERVALS_DEFAULT = 7

export function isRetention(value: unknown): value is RetentionQuestion {
  if (!isShared(value)) return false
  const { start, return: back = 'any', interval, intervals, mode } = value
  return (
    (start === 'first_seen' || isMeant(start)) &&
    (back === 'any' || isMeant(back)) &&
    isOneOf(INTERVALS, interval) &&
    isNumber(intervals) &&
    isOneOf(MODES, mode)
  )
}
