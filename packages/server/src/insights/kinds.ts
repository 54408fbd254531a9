import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import { INSIGHT_KINDS, type InsightMatch } from '../conditions/language.ts'
import type { Values } from '../operations/declare.ts'
import { type ErrorDetail, ServiceError, validationError } from '../platform/errors.ts'
import { compileBodyCheck } from '../platform/http/body-validation.ts'
import { bag } from '../platform/personal.ts'
import { tableOfFunnel, tableOfPaths, tableOfRetention, tableOfWeb } from './answer-tables.ts'
import { FOLLOW_FUNNEL, FOLLOW_RETENTION, FOLLOW_TREND, type Follow, newestSpans, type Span } from './follow.ts'
import { FUNNEL_INPUT, FUNNEL_OUTPUT, funnel } from './funnel.ts'
import { FunnelNumber, funnelPeople } from './funnel-people.ts'
import {
  type Headline,
  headlineOfFunnel,
  headlineOfPaths,
  headlineOfRetention,
  headlineOfTrend,
  headlineOfWeb,
} from './headline.ts'
import type { IntervalUnit } from './intervals.ts'
import { PATHS_INPUT, PATHS_OUTPUT, PathsNumber, paths, peopleOfPath } from './paths.ts'
import { type AnswerTable, type PeopleQuery, type QuestionContext, zoneOf } from './question.ts'
import { peopleOfRetention, RETENTION_INPUT, RETENTION_OUTPUT, RetentionNumber, retention } from './retention.ts'
import { TREND_INPUT, TREND_OUTPUT, trend } from './trend.ts'
import { peopleOfTrend, TrendNumber } from './trend-people.ts'
import { tableOfTrend } from './trend-table.ts'
import { WEB_INPUT, WEB_OUTPUT, web } from './web.ts'
import { peopleOfWeb, WebNumber } from './web-people.ts'

export type InsightKind = InsightMatch['insight']

interface Declared<
  Question extends TProperties,
  Answer extends TProperties,
  At extends TSchema,
  FollowedAt extends TSchema,
> {
  /** The fields of the question and of its answer. */
  question: Question
  answer: Answer
  ask(context: QuestionContext, question: Static<TObject<Question>>): Promise<Static<TObject<Answer>>>
  /** What names one of the answer's numbers, and who is behind it. */
  at: At
  people(context: QuestionContext, question: Static<TObject<Question>>, at: Static<At>): Promise<PeopleQuery>
  table(question: Static<TObject<Question>>, answer: Static<TObject<Answer>>): AnswerTable
  headline(question: Static<TObject<Question>>, answer: Static<TObject<Answer>>): Headline
  /** How one of its numbers is followed over time; null if none is. */
  follow: Follow<Static<TObject<Question>>, FollowedAt> | null
}

/** A kind of question. What is done with all kinds does it through this. */
interface Kind {
  answer: TProperties
  checkQuestion(question: unknown): ErrorDetail[]
  /** Whether its range is divided into intervals. */
  hasIntervals: boolean
  checkAt(at: unknown): ErrorDetail[]
  ask(context: QuestionContext, question: never): Promise<object>
  people(context: QuestionContext, question: never, at: never): Promise<PeopleQuery>
  table(question: never, answer: never): AnswerTable
  headline(question: never, answer: never): Headline
  follow: (Omit<Follow<never, TSchema>, 'at'> & { checkAt(at: unknown): ErrorDetail[] }) | null
}

function kind<
  Question extends TProperties,
  Answer extends TProperties,
  At extends TSchema,
  FollowedAt extends TSchema = TSchema,
>(declared: Declared<Question, Answer, At, FollowedAt>): Kind {
  const { question, at, follow } = declared
  return {
    ...declared,
    checkQuestion: compileBodyCheck(Type.Object(question, { additionalProperties: false })),
    hasIntervals: 'longer_interval' in question,
    checkAt: compileBodyCheck(at),
    follow: follow && { ...follow, checkAt: compileBodyCheck(follow.at) },
  }
}

const KINDS: Record<InsightKind, Kind> = {
  trend: kind({
    question: TREND_INPUT,
    answer: TREND_OUTPUT,
    ask: trend,
    at: TrendNumber,
    people: peopleOfTrend,
    table: tableOfTrend,
    headline: headlineOfTrend,
    follow: FOLLOW_TREND,
  }),
  funnel: kind({
    question: FUNNEL_INPUT,
    answer: FUNNEL_OUTPUT,
    ask: funnel,
    at: FunnelNumber,
    people: funnelPeople,
    table: tableOfFunnel,
    headline: headlineOfFunnel,
    follow: FOLLOW_FUNNEL,
  }),
  retention: kind({
    question: RETENTION_INPUT,
    answer: RETENTION_OUTPUT,
    ask: retention,
    at: RetentionNumber,
    people: peopleOfRetention,
    table: tableOfRetention,
    headline: headlineOfRetention,
    follow: FOLLOW_RETENTION,
  }),
  paths: kind({
    question: PATHS_INPUT,
    answer: PATHS_OUTPUT,
    ask: paths,
    at: PathsNumber,
    people: peopleOfPath,
    table: tableOfPaths,
    headline: headlineOfPaths,
    follow: null,
  }),
  web: kind({
    question: WEB_INPUT,
    answer: WEB_OUTPUT,
    ask: web,
    at: WebNumber,
    people: peopleOfWeb,
    table: tableOfWeb,
    headline: headlineOfWeb,
    follow: null,
  }),
}

/** The kind of a question in a request or a response. */
export const InsightKindField = Type.Unsafe<InsightKind>({
  type: 'string',
  enum: INSIGHT_KINDS,
  description: 'The kind of question.',
})

/** The name of a kind's answer in openapi.json, such as `TrendAnswer`. */
function titleOf(kind: InsightKind): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Answer`
}

/** A question in a request or a response. `answerTo` and `problemsOfInsight` check its fields. */
export const QuestionField = Type.Record(Type.String(), Type.Unknown(bag('any')), {
  description: 'The question, with the fields of the operation of its kind.',
})

/** The answer to a question of any kind. */
export const AnswerField = Type.Unsafe<Values>(
  Type.Union(
    INSIGHT_KINDS.map((name) => Type.Object(KINDS[name].answer, { title: titleOf(name) })),
    { description: 'The answer of the operation of the kind.' },
  ),
)

/**
 * Answers a question of any kind.
 * @param path of the question in the request, which errors name
 * @throws ServiceError 400 naming every invalid field; 403.
 */
export async function answerTo(
  context: QuestionContext,
  { kind, question }: { kind: InsightKind; question: Values },
  path = 'question',
): Promise<Values> {
  const problems = KINDS[kind].checkQuestion(question)
  if (problems.length > 0) throw validationError(within(path, problems))
  return (await naming(path, () => KINDS[kind].ask(context, question as never))) as Values
}

/** The question of a kind for a range that somebody else chose: an interval that is too short for it is replaced. */
export function inAnyRange({ kind, question }: { kind: InsightKind; question: Values }): Values {
  return KINDS[kind].hasIntervals ? { ...question, longer_interval: true } : question
}

/** Names the invalid fields of a question by their path in the request. */
async function naming<Result>(path: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'validation_error') throw error
    throw validationError(within(path, error.details ?? []))
  }
}

/** A number that is followed from interval to interval, and how to ask for it. */
export interface Followed {
  unit: IntervalUnit
  zone: string
  /** The newest intervals, in order, as of now. */
  spans(count: number, options: { includesRunning: boolean }): Span[]
  /** The number in each of some of them; null where there is none. */
  numbersIn(spans: readonly Span[]): Promise<(number | null)[]>
}

/** @param at names the number @throws ServiceError 400 naming every invalid field; 403. */
export async function followNumber(
  context: QuestionContext,
  { kind, question }: { kind: InsightKind; question: Values },
  at: unknown,
): Promise<Followed> {
  const { checkQuestion, follow } = KINDS[kind]
  if (follow === null) {
    const message = 'must be a trend, a funnel or a retention: the numbers of other kinds are not followed over time'
    throw validationError([{ path: 'report_id', message }])
  }
  const problems = [...within('report.question', checkQuestion(question)), ...within('at', follow.checkAt(at))]
  if (problems.length > 0) throw validationError(problems)
  // The schemas have checked them.
  const [asked, number] = [question as never, at as never]
  const further = follow.problems(asked, number)
  if (further.length > 0) throw validationError(further)
  const [unit, zone] = [follow.unit(asked), await zoneOf(context.tenant, question)]
  return {
    unit,
    zone,
    spans: (count, options) => newestSpans(unit, count, { zone, now: context.now, ...options }),
    numbersIn: (spans) => naming('report.question', () => follow.numbersIn(context, asked, number, { spans, zone })),
  }
}

/** An answer as a table. Each line of an estimate says so. */
export function tableOf({ kind, question }: { kind: InsightKind; question: Values }, answer: Values): AnswerTable {
  const table = KINDS[kind].table(question as never, answer as never)
  if (answer.sample === undefined) return table
  return { columns: [...table.columns, 'sample'], rows: table.rows.map((cells) => [...cells, answer.sample]) }
}

/** The main figure of an answer, beside that of the compared range. */
export function headlineOf({ kind, question }: { kind: InsightKind; question: Values }, answer: Values): Headline {
  return KINDS[kind].headline(question as never, answer as never)
}

const OF_SAMPLE = 'must be left out: the people behind a number are everybody whom it counts'

/** What is wrong with a question, or with what names one of its numbers. What else it may be is known when it is asked. */
export function problemsOfInsight({ insight, question, at }: InsightMatch, path = ''): ErrorDetail[] {
  const { checkQuestion, checkAt } = KINDS[insight]
  const isSample = typeof question.sample === 'number' && question.sample < 1
  const details = [
    ...within('question', checkQuestion(question)),
    ...(isSample ? [{ path: 'question.sample', message: OF_SAMPLE }] : []),
    ...within('at', checkAt(at)),
  ]
  return path === '' ? details : within(path, details)
}

/** The people behind a number. @throws ServiceError 400 naming every invalid field; 403. */
export function peopleBehind(context: QuestionContext, { insight, question, at }: InsightMatch): Promise<PeopleQuery> {
  return KINDS[insight].people(context, question as never, at as never)
}

function within(field: string, details: readonly ErrorDetail[]): ErrorDetail[] {
  return details.map((detail) => ({ ...detail, path: [field, detail.path].filter(Boolean).join('.') }))
}
