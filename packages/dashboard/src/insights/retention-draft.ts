import type { FieldTypes } from '../filters/draft-filter.ts'
import {
  type MeantDraft,
  meantDraft,
  meantQuestion,
  newMeant,
  type SharedDraft,
  sharedDraft,
  sharedQuestion,
} from './draft.ts'
import type { Interval } from './question.ts'
import { INTERVALS_DEFAULT, type RetentionQuestion } from './retention-question.ts'

export interface RetentionDraft extends SharedDraft {
  /** Whether a cohort begins with the first event of all, whatever `start` is. */
  isFirstSeen: boolean
  start: MeantDraft
  /** An event of any name, without conditions, is any event. */
  return: MeantDraft
  interval: Interval
  intervals: number
  mode: NonNullable<RetentionQuestion['mode']>
}

export function retentionDraft(question: RetentionQuestion): RetentionDraft {
  const { start, return: back = 'any', interval = 'day', intervals = INTERVALS_DEFAULT, mode = 'on' } = question
  return {
    ...sharedDraft(question),
    isFirstSeen: start === 'first_seen',
    start: start === 'first_seen' ? newMeant() : meantDraft(start),
    return: back === 'any' ? newMeant() : meantDraft(back),
    interval,
    intervals,
    mode,
  }
}

export function retentionQuestion(draft: RetentionDraft, types: FieldTypes): RetentionQuestion {
  const { isFirstSeen, start, interval, intervals, mode } = draft
  const back = meantQuestion(draft.return, types)
  return {
    ...sharedQuestion(draft, types),
    start: isFirstSeen ? 'first_seen' : meantQuestion(start, types),
    return: Object.keys(back).length === 0 ? 'any' : back,
    interval,
    intervals,
    mode,
  }
}
