import Type, { type Static, type TSchema } from 'typebox'
import type { ErrorDetail } from '../platform/errors.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { WORD } from '../platform/personal.ts'
import { type FunnelQuestion, funnel } from './funnel.ts'
import { type IntervalUnit, intervalsOf } from './intervals.ts'
import type { QuestionContext, SentQuestion } from './question.ts'
import { DEFAULT_LAST, type Range, startOfUnit } from './range.ts'
import { FURTHER_DEFAULT, type RetentionQuestion, retention } from './retention.ts'
import { type TrendQuestion, trend } from './trend.ts'
import type { Figure } from './trend-figures.ts'

/** An interval for which a number is asked. */
export interface Span extends Range {
  /** As the key of an interval in an answer. */
  key: string
}

/** How one number of a question is followed from interval to interval. */
export interface Follow<Question, At extends TSchema> {
  /** What names the number. */
  at: At
  /** What the schemas cannot check. */
  problems(question: Question, at: Static<At>): ErrorDetail[]
  /** What an interval covers. */
  unit(question: Question): IntervalUnit
  /** The number in each of some intervals, which are in order. */
  numbersIn(
    context: QuestionContext,
    question: Question,
    at: Static<At>,
    place: { spans: readonly Span[]; zone: string },
  ): Promise<Figure[]>
}

/**
 * The newest intervals, in order.
 * @param includesRunning whether the last one is the interval that is not over yet
 */
export function newestSpans(
  unit: IntervalUnit,
  count: number,
  { zone, now, includesRunning }: { zone: string; now: Date; includesRunning: boolean },
): Span[] {
  const after = includesRunning ? 1 : 0
  const fromMs = startOfUnit(unit, zone, now, after - count).getTime()
  const intervals = intervalsOf(unit, { fromMs, untilMs: startOfUnit(unit, zone, now, after).getTime() - 1 }, zone)
  // A caller that asks for too many has a wrong constant.
  if (Array.isArray(intervals)) throw new Error(`Too many intervals: ${count}`)
  const { keys, starts } = intervals
  return keys.map((key, index) => ({ key, fromMs: starts[index] ?? 0, untilMs: (starts[index + 1] ?? 0) - 1 }))
}

const SeriesAt = Type.Object(
  {
    series: Type.Optional(
      Type.String({
        pattern: '^[A-J]$',
        description: 'The letter of the series. Left out if the question has a formula, which is followed then.',
        ...WORD,
      }),
    ),
    running: Type.Optional(
      Type.Boolean({ description: 'The interval that is not over yet, in place of the newest complete one.' }),
    ),
  },
  { title: 'FollowedSeries', additionalProperties: false },
)

/** One series of a trend, or its formula, in each interval. */
export const FOLLOW_TREND: Follow<TrendQuestion, typeof SeriesAt> = {
  at: SeriesAt,
  problems({ series, formula }, { series: letter }) {
    if (formula !== undefined) {
      return letter === undefined
        ? []
        : [{ path: 'at.series', message: 'must be left out: the question has a formula' }]
    }
    return letter !== undefined && indexOf(letter) < series.length
      ? []
      : [{ path: 'at.series', message: 'must be the letter of one of the series, such as A' }]
  },
  unit: ({ interval = 'day' }) => interval,
  async numbersIn(context, question, { series: letter = 'A' }, { spans }) {
    const [first, last] = [spans[0], spans.at(-1)]
    if (!first || !last) return []
    const { intervals, series } = await trend(context, inRange(question, first.fromMs, last.untilMs))
    const points = series[question.formula === undefined ? indexOf(letter) : 0]?.points ?? []
    const numbers = new Map(intervals.map((key, index) => [key, points[index] ?? null]))
    return spans.map(({ key }) => numbers.get(key) ?? null)
  },
}

function indexOf(letter: string): number {
  return letter.charCodeAt(0) - 'A'.charCodeAt(0)
}

const FUNNEL_FIGURES = ['count', 'from_first', 'from_previous'] as const

const StepAt = Type.Object(
  {
    step: Type.Integer({ minimum: 1, description: 'The step; the first is 1.' }),
    figure: oneOf(FUNNEL_FIGURES, 'How many reached it, or the part of those of the first or the previous step.'),
  },
  { title: 'FollowedStep', additionalProperties: false },
)

/** A step of a funnel, as its question's range ended with each interval. */
export const FOLLOW_FUNNEL: Follow<FunnelQuestion, typeof StepAt> = {
  at: StepAt,
  problems: (question, { step }) => [
    ...problemsOfMovingRange(question),
    ...(step <= question.steps.length
      ? []
      : [{ path: 'at.step', message: `must be at most ${question.steps.length}` }]),
  ],
  unit: unitOfRange,
  numbersIn: (context, question, { step, figure = 'count' }, place) =>
    asEachEnded(context, question, place, async (asking, asked) => {
      return (await funnel(asking, asked)).steps[step - 1]?.[figure] ?? null
    }),
}

const ReturnAt = Type.Object(
  {
    interval: Type.Integer({
      minimum: 1,
      description: 'The average of this interval after the start; the first is 1.',
    }),
  },
  { title: 'FollowedReturn', additionalProperties: false },
)

/** An average of a retention, as its question's range ended with each interval. */
export const FOLLOW_RETENTION: Follow<RetentionQuestion, typeof ReturnAt> = {
  at: ReturnAt,
  problems: (question, { interval }) => {
    const { intervals = FURTHER_DEFAULT } = question
    const isKnown = interval <= intervals
    return [
      ...problemsOfMovingRange(question),
      ...(isKnown ? [] : [{ path: 'at.interval', message: `must be at most ${intervals}` }]),
    ]
  },
  unit: unitOfRange,
  numbersIn: (context, question, { interval }, place) =>
    asEachEnded(context, question, place, async (asking, asked) => {
      return (await retention(asking, asked)).average[interval - 1] ?? null
    }),
}

/** Each interval of such a question is asked for by itself: hours would be too many. */
function problemsOfMovingRange({ date_from, date_to, last = DEFAULT_LAST }: SentQuestion): ErrorDetail[] {
  if (date_from !== undefined || date_to !== undefined) {
    return [{ path: 'report_id', message: 'must be a report whose range moves: it needs `last` in place of dates' }]
  }
  return last.unit === 'hour' ? [{ path: 'report_id', message: 'must be a report over days, weeks or months' }] : []
}

function unitOfRange({ last = DEFAULT_LAST }: SentQuestion): IntervalUnit {
  return last.unit
}

/** What a question said as each of some intervals ended: over as many whole units as its `last` has, as of then. */
async function asEachEnded<Question extends SentQuestion>(
  context: QuestionContext,
  question: Question,
  { spans, zone }: { spans: readonly Span[]; zone: string },
  ask: (context: QuestionContext, question: Question) => Promise<Figure>,
): Promise<Figure[]> {
  const { value, unit } = question.last ?? DEFAULT_LAST
  const numbers: Figure[] = []
  for (const { fromMs, untilMs } of spans) {
    const start = startOfUnit(unit, zone, new Date(fromMs), 1 - value).getTime()
    numbers.push(await ask({ ...context, now: new Date(untilMs + 1) }, inRange(question, start, untilMs)))
  }
  return numbers
}

/** A question over another range, without what would answer it for more than that. */
function inRange<Question extends SentQuestion & { breakdown?: unknown }>(
  question: Question,
  fromMs: number,
  untilMs: number,
): Question {
  const { last: _, compare: _compare, breakdown: _breakdown, ...rest } = question
  const dates = { date_from: new Date(fromMs).toISOString(), date_to: new Date(untilMs).toISOString() }
  return { ...rest, ...dates } as Question
}
