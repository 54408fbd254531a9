import { Text } from '@mantine/core'
import type { Report } from '../api/types.ts'
import { unitOf } from './interval-keys.ts'
import { INTERVALS, type Interval } from './question.ts'
import { text } from './text.ts'

interface AnsweredReport<Question extends object> {
  kind: Report['kind']
  question: Question
  answer: object
}

/** The interval of a question that names none. That of web analytics depends on the range, so it always fits. */
const BY_DEFAULT: Partial<Record<Report['kind'], Interval>> = { trend: 'day', retention: 'day' }

/** The interval that was asked for, and the longer one that took its place because it is too short for the range. */
function replacedInterval({ kind, question, answer }: AnsweredReport<object>) {
  const { interval } = question as { interval?: unknown }
  const asked = INTERVALS.find((each) => each === interval) ?? BY_DEFAULT[kind]
  const { intervals, cohorts } = answer as { intervals?: string[]; cohorts?: { from: string }[] }
  const key = intervals?.[0] ?? cohorts?.[0]?.from
  if (asked === undefined || key === undefined || unitOf(key) === asked) return undefined
  return { asked, shown: unitOf(key) }
}

/** The question of an answer, with the interval by which it was answered. */
export function answeredQuestion<Question extends object>(answered: AnsweredReport<Question>): Question {
  const replaced = replacedInterval(answered)
  const { longer_interval: _, ...question } = answered.question as Question & { longer_interval?: boolean }
  return { ...question, ...(replaced ? { interval: replaced.shown } : {}) } as Question
}

/** Says above an answer that its interval is longer than the one that was asked for. */
export function IntervalMark(answered: AnsweredReport<object>) {
  const replaced = replacedInterval(answered)
  if (!replaced) return null
  return (
    <Text size="xs" c="dimmed">
      {text.longerInterval(replaced.shown, replaced.asked)}
    </Text>
  )
}
