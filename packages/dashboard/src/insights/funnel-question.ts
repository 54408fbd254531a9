import type { InsightFunnelInput } from '../api/types.ts'
import type { FieldTypes } from '../filters/draft-filter.ts'
import { type MeantDraft, meantDraft, meantQuestion, type SharedDraft, sharedDraft, sharedQuestion } from './draft.ts'
import { isListOf, isMeant, isNumber, isOneOf, isShared } from './question.ts'

export type FunnelQuestion = InsightFunnelInput

export const WINDOW_UNITS = ['minute', 'hour', 'day', 'week'] as const
export const ORDERS = ['ordered', 'strict', 'any'] as const
export const COUNTED = ['people', 'sessions'] as const

export function isFunnel(value: unknown): value is FunnelQuestion {
  if (!isShared(value)) return false
  const { steps, window, order, count_by: counted, exclude = [], breakdown = [], limit } = value
  const { value: length, unit } = (typeof window === 'object' && window !== null ? window : {}) as Record<
    string,
    unknown
  >
  return (
    isListOf(steps, isMeant) &&
    typeof length === 'number' &&
    typeof unit === 'string' &&
    isOneOf(WINDOW_UNITS, unit) &&
    isOneOf(ORDERS, order) &&
    isOneOf(COUNTED, counted) &&
    isListOf(exclude, isMeant) &&
    isListOf(breakdown, (name) => typeof name === 'string') &&
    isNumber(limit)
  )
}

export interface FunnelDraft extends SharedDraft {
  steps: MeantDraft[]
  window: FunnelQuestion['window']
  order: NonNullable<FunnelQuestion['order']>
  countBy: NonNullable<FunnelQuestion['count_by']>
  exclude: MeantDraft[]
  breakdown: string[]
  limit: number | undefined
}

export function funnelDraft(question: FunnelQuestion): FunnelDraft {
  const {
    steps,
    window,
    order = 'ordered',
    count_by: countBy = 'people',
    exclude = [],
    breakdown = [],
    limit,
  } = question
  return {
    ...sharedDraft(question),
    steps: steps.map(meantDraft),
    window,
    order,
    countBy,
    exclude: exclude.map(meantDraft),
    breakdown,
    limit,
  }
}

export function funnelQuestion(draft: FunnelDraft, types: FieldTypes): FunnelQuestion {
  const { steps, window, order, countBy, exclude, breakdown, limit } = draft
  const meant = (each: MeantDraft) => meantQuestion(each, types)
  return {
    ...sharedQuestion(draft, types),
    steps: steps.map(meant),
    window,
    order,
    count_by: countBy,
    ...(exclude.length > 0 ? { exclude: exclude.map(meant) } : {}),
    ...(breakdown.length > 0 ? { breakdown } : {}),
    ...(limit === undefined ? {} : { limit }),
  }
}
