import Type, { type Static } from 'typebox'
import { PATH_KEYS_MAX } from '../conditions/event-property.ts'
import { pathOfField } from '../figures/event-figures.ts'
import { METRICS, needsNumbers } from '../figures/measure.ts'
import { type ErrorDetail, ServiceError, validationError } from '../platform/errors.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { WORD } from '../platform/personal.ts'
import { type AnswerInRanges, answerInRanges } from './answer-in-ranges.ts'
import {
  type Breakdown,
  BreakdownNames,
  type BreakdownValue,
  breakdownBy,
  namesOf,
  ValueInAnswer,
} from './breakdown.ts'
import { FORMULA_LENGTH_MAX, type Formula, parseFormula } from './formula.ts'
import { INTERVALS, intervalsOf, LongerInterval, unitOf } from './intervals.ts'
import {
  compileMeant,
  EventMeant,
  IntervalKey,
  Label,
  labelOf,
  QUESTION_FIELDS,
  type QuestionContext,
  readQuestion,
} from './question.ts'
import type { Range } from './range.ts'
import { SampleAnswered } from './sample.ts'
import {
  type Figure,
  type Figures,
  figuresOf,
  nothingOf,
  type SeriesQuery,
  type TrendMetric,
  totalsByKey,
} from './trend-figures.ts'

const SERIES_MAX = 10
/** With a formula, the figures of all values are compared before the largest are chosen. */
const VALUES_MAX = 10_000
const LIMIT_DEFAULT = 10
const TREND_METRICS: readonly TrendMetric[] = [...METRICS, 'per_person']

const Series = Type.Object(
  {
    ...EventMeant.properties,
    metric: Type.Optional(
      Type.Unsafe<TrendMetric>({
        type: 'string',
        enum: TREND_METRICS,
        default: 'count',
        description:
          'The figure: the number of events, one computed from the numbers in `property`, or the number of different people, contacts, visitors or sessions. per_person: events for each person.',
      }),
    ),
    property: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Required for sum, avg, min, max, median and p90: `data.<path>` or a key of data.',
        ...WORD,
      }),
    ),
  },
  { title: 'TrendSeries', additionalProperties: false },
)

export const TREND_INPUT = {
  ...QUESTION_FIELDS,
  series: Type.Array(Series, { minItems: 1, maxItems: SERIES_MAX, description: 'What is counted: A, B, C …' }),
  formula: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: FORMULA_LENGTH_MAX,
      examples: ['B / A'],
      description: 'One series computed from the others, which are named by letter.',
      ...WORD,
    }),
  ),
  interval: Type.Optional(oneOf(INTERVALS, 'What a point covers. Default: day.')),
  longer_interval: LongerInterval,
  breakdown: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200, ...WORD }), {
      maxItems: 2,
      description:
        'One series for each value of these properties of the events, such as country or data.plan, or of their contacts and companies as they are now, such as contact.plan or company.industry.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: LIMIT_DEFAULT,
      description: 'How many values of the breakdown have a series of their own: the largest ones.',
    }),
  ),
} as const
const Input = Type.Object(TREND_INPUT)
export type TrendQuestion = Static<typeof Input>

const FigureField = Type.Union([Type.Number(), Type.Null()])
const figures = {
  label: Label,
  total: FigureField,
  points: Type.Array(FigureField, { description: 'One figure for each interval.' }),
}
const ANSWER = {
  intervals: Type.Array(IntervalKey),
  series: Type.Array(
    Type.Object(
      {
        ...figures,
        breakdown: Type.Optional(
          Type.Array(ValueInAnswer, { description: 'The value of each property of the breakdown.' }),
        ),
      },
      { title: 'TrendFigures' },
    ),
  ),
  others: Type.Optional(
    Type.Array(Type.Object(figures, { title: 'TrendFiguresOfOthers' }), {
      description: 'The values that have no series of their own, together.',
    }),
  ),
}
export const TREND_OUTPUT = {
  ...ANSWER,
  breakdown_by: BreakdownNames,
  sample: SampleAnswered,
  compare: Type.Optional(
    Type.Object(ANSWER, { title: 'ComparedTrend', description: 'The answer for the compared range.' }),
  ),
}

interface LabelledFigures extends Figures {
  label: string
}
export interface TrendPart {
  intervals: string[]
  series: (LabelledFigures & { breakdown?: BreakdownValue[] })[]
  others?: LabelledFigures[]
}
export type TrendAnswer = AnswerInRanges<TrendPart> & { breakdown_by?: string[] }

/** Figures of events over time. @throws ServiceError 400 naming every invalid field, `hidden_property`; 403. */
export async function trend(context: QuestionContext, sent: TrendQuestion): Promise<TrendAnswer> {
  const formula = formulaOf(sent)
  const asked = await readQuestion(context, sent)
  const meant = await compileMeant(context, sent.series, 'series')
  const breakdown = await breakdownBy(context, { asked, meant }, sent.breakdown ?? [])
  const answerIn = async (range: Range): Promise<TrendPart> => {
    const intervals = intervalsOf(unitOf(sent, asked), range, asked.zone)
    if (Array.isArray(intervals)) throw validationError(intervals)
    const series = sent.series.map(({ metric = 'count', property = '' }, index): SeriesQuery => {
      const compiled = meant[index] ?? { sql: '1', parameters: {} }
      return { context, asked, range, intervals, meant: compiled, metric, property, breakdown }
    })
    const parts = breakdown
      ? await brokenDown(sent, series, breakdown, formula)
      : { series: await whole(sent, series, formula) }
    return { intervals: intervals.keys, ...parts }
  }
  return { ...(await answerInRanges(asked, sent, answerIn)), ...namesOf(sent.breakdown) }
}

/** What the schema cannot check. */
function formulaOf({ series, formula }: TrendQuestion): Formula | null {
  const details = series.flatMap(({ metric = 'count', property }, index): ErrorDetail[] => {
    const path = `series[${index}].property`
    if (metric === 'per_person' || !needsNumbers(metric)) return []
    if (property === undefined) return [{ path, message: `is required for the metric ${metric}` }]
    if (/^(contact|company)\./.test(property)) {
      return [{ path, message: 'must be a value in the data of the events, such as data.amount' }]
    }
    const isTooLong = pathOfField(property).length > PATH_KEYS_MAX
    return isTooLong ? [{ path, message: `must name at most ${PATH_KEYS_MAX} keys` }] : []
  })
  const parsed = formula === undefined ? null : parseFormula(formula, series.length)
  if (parsed !== null && 'problem' in parsed) details.push({ path: 'formula', message: parsed.problem })
  if (details.length > 0) throw validationError(details)
  return typeof parsed === 'function' ? parsed : null
}

async function whole(
  sent: TrendQuestion,
  series: readonly SeriesQuery[],
  formula: Formula | null,
): Promise<LabelledFigures[]> {
  const found: Figures[] = []
  for (const each of series) found.push(...(await figuresOf(each, [])))
  if (formula !== null) return [{ label: sent.formula ?? '', ...combined(formula, found) }]
  return found.map((figures, index) => ({ label: labelIn(sent, index), ...figures }))
}

/** A formula of several series' figures. */
function combined(formula: Formula, series: readonly Figures[]): Figures {
  const points = series[0]?.points ?? []
  return {
    total: formula(series.map(({ total }) => total)),
    points: points.map((_, at) => formula(series.map((each) => each.points[at] ?? null))),
  }
}

async function brokenDown(
  sent: TrendQuestion,
  series: readonly SeriesQuery[],
  breakdown: Breakdown,
  formula: Formula | null,
): Promise<Pick<TrendPart, 'series' | 'others'>> {
  const limit = sent.limit ?? LIMIT_DEFAULT
  const found: TrendPart['series'] = []
  const others: LabelledFigures[] = []
  const add = (label: string, keys: readonly string[], hasMore: boolean, [rest, ...figures]: readonly Figures[]) => {
    for (const [index, key] of keys.entries()) {
      const ofKey = figures[index]
      if (ofKey) found.push({ label, breakdown: breakdown.valuesOfKey(key), ...ofKey })
    }
    if (hasMore && rest) others.push({ label, ...rest })
  }
  if (formula === null) {
    for (const [index, each] of series.entries()) {
      const found = await totalsByKey(each, breakdown, limit + 1)
      const keys = found.totals.slice(0, limit).map(({ key }) => key)
      const figures = await figuresOf({ ...each, breakdown: found.breakdown }, keys)
      add(labelIn(sent, index), keys, found.totals.length > limit, figures)
    }
  } else {
    const largest = await largestByFormula(series, breakdown, formula)
    const keys = largest.slice(0, limit)
    const all: Figures[][] = []
    for (const each of series) all.push(await figuresOf(each, keys))
    const slots = ['', ...keys].map((_, slot) =>
      combined(
        formula,
        all.flatMap((each) => each[slot] ?? []),
      ),
    )
    add(sent.formula ?? '', keys, largest.length > limit, slots)
  }
  return { series: found, ...(others.length > 0 ? { others } : {}) }
}

/** The keys of a breakdown in the order of a formula's totals. */
async function largestByFormula(
  series: readonly SeriesQuery[],
  breakdown: Breakdown,
  formula: Formula,
): Promise<string[]> {
  const totals = new Map<string, Figure[]>()
  for (const [index, each] of series.entries()) {
    const { totals: found } = await totalsByKey(each, breakdown, VALUES_MAX + 1)
    if (found.length > VALUES_MAX) throw tooManyValues()
    for (const { key, total } of found) {
      const known = totals.get(key) ?? series.map(({ metric }) => nothingOf(metric))
      known[index] = total
      totals.set(key, known)
    }
  }
  const ranked = [...totals].map(([key, figures]) => ({
    key,
    total: formula(figures) ?? Number.NEGATIVE_INFINITY,
    isMissing: breakdown.valuesOfKey(key).every((value) => value === null),
    json: Buffer.from(breakdown.orderOf(key)),
  }))
  ranked.sort(
    (a, b) =>
      (a.total === b.total ? 0 : b.total - a.total) ||
      Number(a.isMissing) - Number(b.isMissing) ||
      Buffer.compare(a.json, b.json),
  )
  return ranked.map(({ key }) => key)
}

function tooManyValues(): ServiceError {
  const message = `A formula can be broken down by a property of at most ${VALUES_MAX} values. Add conditions, or remove the formula.`
  return new ServiceError(400, 'query_too_expensive', message)
}

function labelIn({ series }: TrendQuestion, index: number): string {
  return labelOf(series[index] ?? {})
}
