import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import { INSIGHT_KINDS, type InsightMatch } from '../conditions/language.ts'
import type { ErrorDetail } from '../platform/errors.ts'
import { compileBodyCheck } from '../platform/http/body-validation.ts'
import { bag } from '../platform/personal.ts'
import { FUNNEL_INPUT } from './funnel.ts'
import { FunnelNumber, funnelPeople } from './funnel-people.ts'
import { PATHS_INPUT, PathsNumber, peopleOfPath } from './paths.ts'
import { amongPeople, type PeopleQuery, type QuestionContext } from './question.ts'
import { peopleOfRetention, RETENTION_INPUT, RetentionNumber } from './retention.ts'
import { TREND_INPUT } from './trend.ts'
import { peopleOfTrend, TrendNumber } from './trend-people.ts'

/** How the people behind a kind of question are found. */
interface Kind {
  checkQuestion(question: unknown): ErrorDetail[]
  checkAt(at: unknown): ErrorDetail[]
  peopleOf(context: QuestionContext, question: never, at: never): Promise<PeopleQuery>
}

function kind<Question extends TProperties, At extends TSchema>(
  question: Question,
  at: At,
  peopleOf: (context: QuestionContext, question: Static<TObject<Question>>, at: Static<At>) => Promise<PeopleQuery>,
): Kind {
  const checkQuestion = compileBodyCheck(Type.Object(question, { additionalProperties: false }))
  return { checkQuestion, checkAt: compileBodyCheck(at), peopleOf }
}

const KINDS: Record<InsightMatch['insight'], Kind> = {
  trend: kind(TREND_INPUT, TrendNumber, peopleOfTrend),
  funnel: kind(FUNNEL_INPUT, FunnelNumber, funnelPeople),
  retention: kind(RETENTION_INPUT, RetentionNumber, peopleOfRetention),
  paths: kind(PATHS_INPUT, PathsNumber, peopleOfPath),
}

export const PEOPLE_INPUT = {
  kind: Type.Unsafe<InsightMatch['insight']>({
    type: 'string',
    enum: INSIGHT_KINDS,
    description: 'The kind of question.',
  }),
  question: Type.Record(Type.String(), Type.Unknown(bag('any')), { description: 'The question, as it was asked.' }),
  at: Type.Record(Type.String(), Type.Unknown(bag('any')), {
    description:
      'Which number. trend: `{"series": "A", "interval": "2026-10-25", "breakdown": ["DE"]}`, where all but the series may be left out. funnel: `{"step": 2}`, with `"dropped": true` those who went no further, and `breakdown`. retention: `{"cohort": "2026-W43", "interval": 1}`, or the cohort alone. paths: `{"step": 1, "from": "/", "to": "/pricing"}` or `{"step": 1, "name": "/"}`.',
  }),
} as const

/** What is wrong with a question, or with what names one of its numbers. What else it may be is known when it is asked. */
export function problemsOfInsight({ insight, question, at }: InsightMatch, path = ''): ErrorDetail[] {
  const { checkQuestion, checkAt } = KINDS[insight]
  const within = (field: string, details: ErrorDetail[]) =>
    details.map((detail) => ({ ...detail, path: [path, field, detail.path].filter(Boolean).join('.') }))
  return [...within('question', checkQuestion(question)), ...within('at', checkAt(at))]
}

/** The people behind a number. @throws ServiceError 400 naming every invalid field; 403. */
export function peopleBehind(context: QuestionContext, { insight, question, at }: InsightMatch): Promise<PeopleQuery> {
  return KINDS[insight].peopleOf(context, question as never, at as never)
}

/** How many contacts, and how many anonymous visitors, a number counts. */
export async function countPeople(
  context: QuestionContext,
  match: InsightMatch,
): Promise<{ contacts: number; anonymous: number }> {
  const count = amongPeople(await peopleBehind(context, match), {
    columns: 'uniqExactIf(person, is_contact) AS contacts, uniqExactIf(person, NOT is_contact) AS anonymous',
  })
  const [row] = await context.tenant.events.select<{ contacts: number; anonymous: number }>(count)
  return { contacts: Number(row?.contacts ?? 0), anonymous: Number(row?.anonymous ?? 0) }
}
