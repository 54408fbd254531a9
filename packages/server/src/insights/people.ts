import Type, { type Static, type TProperties } from 'typebox'
import { INSIGHT_KINDS, type InsightMatch } from '../conditions/language.ts'
import { NOBODY } from '../platform/clickhouse/owner-links.ts'
import type { ErrorDetail } from '../platform/errors.ts'
import { compileBodyCheck } from '../platform/http/body-validation.ts'
import { bag } from '../platform/personal.ts'
import type { PeopleSelect, QuestionContext } from './question.ts'
import { TREND_INPUT } from './trend.ts'
import { peopleOfTrend, TREND_AT } from './trend-people.ts'

/** How the people behind a kind of question are found. */
interface Kind {
  checkQuestion(question: unknown): ErrorDetail[]
  checkAt(at: unknown): ErrorDetail[]
  select(context: QuestionContext, question: never, at: never): Promise<PeopleSelect>
}

function kind<Question extends TProperties, At extends TProperties>(
  question: Question,
  at: At,
  select: (
    context: QuestionContext,
    question: Static<Type.TObject<Question>>,
    at: Static<Type.TObject<At>>,
  ) => Promise<PeopleSelect>,
): Kind {
  return {
    checkQuestion: compileBodyCheck(Type.Object(question, { additionalProperties: false })),
    checkAt: compileBodyCheck(Type.Object(at, { additionalProperties: false })),
    select,
  }
}

const KINDS: Record<InsightMatch['insight'], Kind> = {
  trend: kind(TREND_INPUT, TREND_AT, peopleOfTrend),
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
      'Which number. trend: `{"series": "A", "interval": "2026-10-25", "breakdown": ["DE"]}`, where all but the series may be left out.',
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
export function selectPeople(context: QuestionContext, { insight, question, at }: InsightMatch): Promise<PeopleSelect> {
  return KINDS[insight].select(context, question as never, at as never)
}

/** How many contacts, and how many anonymous visitors, a number counts. */
export async function countPeople(
  context: QuestionContext,
  match: InsightMatch,
): Promise<{ contacts: number; anonymous: number }> {
  const { isCounted, ...selection } = await selectPeople(context, match)
  const [row] = await context.tenant.events.select<{ contacts: number; anonymous: number }>({
    ...selection,
    name: 'insights.people',
    lane: 'heavy',
    outer: {
      columns: `uniqExactIf(contact_id, contact_id != ${NOBODY}) AS contacts,
        uniqExactIf(person, contact_id = ${NOBODY} AND person != ${NOBODY}) AS anonymous`,
      ...(isCounted === undefined ? {} : { where: isCounted }),
    },
  })
  return { contacts: Number(row?.contacts ?? 0), anonymous: Number(row?.anonymous ?? 0) }
}
