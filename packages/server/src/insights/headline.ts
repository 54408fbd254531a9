import type { FunnelAnswer } from './funnel.ts'
import type { PathsAnswer } from './paths.ts'
import { labelOf } from './question.ts'
import type { RetentionAnswer } from './retention.ts'
import type { TrendAnswer, TrendQuestion } from './trend.ts'
import type { WebAnswer } from './web.ts'

type Figure = number | null

/** The main figure of an answer, and the same in the range that it is compared with. */
export interface Headline {
  value: Figure
  before: Figure | undefined
  /** Whether they are parts of 1. */
  isShare: boolean
  /** What follows the figure, such as `people`; empty where the name of the report says enough. */
  noun: string
}

/** The formula's total, or that of the first series. */
export function headlineOfTrend({ series, formula }: TrendQuestion, answer: TrendAnswer): Headline {
  const [first] = series
  return {
    value: answer.series[0]?.total ?? null,
    before: answer.compare && (answer.compare.series[0]?.total ?? null),
    isShare: false,
    noun: first && formula === undefined && series.length > 1 ? labelOf(first) : '',
  }
}

export function headlineOfFunnel(_question: unknown, answer: FunnelAnswer): Headline {
  return {
    value: answer.steps.at(-1)?.from_first ?? null,
    before: answer.compare && (answer.compare.steps.at(-1)?.from_first ?? null),
    isShare: true,
    noun: 'reached the last step',
  }
}

export function headlineOfRetention(_question: unknown, { average, compare }: RetentionAnswer): Headline {
  return {
    value: average[0] ?? null,
    before: compare && (compare.average[0] ?? null),
    isShare: true,
    noun: 'came back',
  }
}

export function headlineOfPaths(_question: unknown, answer: PathsAnswer): Headline {
  return {
    value: visitsIn(answer),
    before: answer.compare && visitsIn(answer.compare),
    isShare: false,
    noun: 'visits',
  }
}

export function headlineOfWeb(_question: unknown, { totals, compare }: WebAnswer): Headline {
  return { value: totals.people, before: compare?.totals.people, isShare: false, noun: 'people' }
}

/** Every visit is at one of the places of the step with the most. */
function visitsIn({ nodes }: Pick<PathsAnswer, 'nodes'>): number {
  const sums = new Map<number, number>()
  for (const { step, count } of nodes) sums.set(step, (sums.get(step) ?? 0) + count)
  return Math.max(0, ...sums.values())
}

/** What mails and messages say behind a figure that was estimated from a part of the people; nothing of one that was not. */
export function estimateWords(sample: unknown): string {
  return typeof sample === 'number' && sample < 1 ? ` (estimated from ${figureWords(sample, true)} of the people)` : ''
}

/** A figure as mails and messages show it. */
export function figureWords(figure: Figure, isShare: boolean): string {
  if (figure === null) return 'nothing'
  const format = new Intl.NumberFormat('en', { style: isShare ? 'percent' : 'decimal', maximumSignificantDigits: 6 })
  return format.format(figure)
}
