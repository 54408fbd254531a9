import Type, { type Static } from 'typebox'
import { CONTACT_OF_EVENT, NOBODY } from '../platform/clickhouse/owner-links.ts'
import { validationError } from '../platform/errors.ts'
import { WORD } from '../platform/personal.ts'
import { type BreakdownValue, BreakdownValues, type BrokenDown, breakdownBy, hasKey } from './breakdown.ts'
import { intervalsOf, unitOf } from './intervals.ts'
import {
  compileMeant,
  IS_OF_SOMEBODY,
  inRange,
  PERSON,
  type PeopleQuery,
  type QuestionContext,
  readQuestion,
} from './question.ts'
import type { TrendQuestion } from './trend.ts'

/** Names a number of a trend. */
export const TrendNumber = Type.Object(
  {
    series: Type.String({
      pattern: '^[A-J]$',
      description: 'The letter of the series; of a formula, one that it names.',
      ...WORD,
    }),
    interval: Type.Optional(
      Type.String({ description: 'The key of the interval. Left out: the whole range.', ...WORD }),
    ),
    breakdown: Type.Optional(BreakdownValues),
  },
  { title: 'TrendNumber', additionalProperties: false },
)

/** The people whose events a number of a trend counts. @throws ServiceError 400 naming every invalid field; 403. */
export async function peopleOfTrend(
  context: QuestionContext,
  question: TrendQuestion,
  { series, interval, breakdown: values }: Static<typeof TrendNumber>,
): Promise<PeopleQuery> {
  const asked = await readQuestion(context, question)
  const meant = (await compileMeant(context, question.series, 'series'))[series.charCodeAt(0) - 65]
  if (meant === undefined)
    throw validationError([{ path: 'at.series', message: 'must be the letter of one of the series' }])
  const { where, parameters } = inRange(asked.range)
  const conditions = [...where, ...asked.where, meant.sql]
  if (interval !== undefined) conditions.push(isIn(interval, question, asked))
  const ofBreakdown = values && (await ofValues(context, { asked, meant: [meant] }, question.breakdown ?? [], values))
  return {
    name: 'insights.trend_people',
    lane: 'heavy',
    withContacts: true,
    ...(ofBreakdown ? { valuesOf: ofBreakdown.valuesOf } : {}),
    columns: `${PERSON} AS person, any(${CONTACT_OF_EVENT} != ${NOBODY}) AS is_contact`,
    where: [...conditions, IS_OF_SOMEBODY, ...(ofBreakdown ? [ofBreakdown.sql] : [])],
    parameters: { ...asked.parameters, ...parameters, ...meant.parameters, ...ofBreakdown?.parameters },
    groupBy: 'person',
  }
}

function isIn(key: string, question: TrendQuestion, asked: Awaited<ReturnType<typeof readQuestion>>): string {
  const intervals = intervalsOf(unitOf(question, asked), asked.range, asked.zone)
  if (Array.isArray(intervals)) throw validationError(intervals)
  const index = intervals.keys.indexOf(key)
  if (index >= 0) return `${intervals.indexInSql} = ${index}`
  throw validationError([{ path: 'at.interval', message: 'must be the key of one of the intervals' }])
}

async function ofValues(
  context: QuestionContext,
  events: BrokenDown,
  names: readonly string[],
  values: readonly BreakdownValue[],
) {
  const breakdown = await breakdownBy(context, events, names)
  if (breakdown === null || values.length !== names.length) {
    const message = 'must have one value for each property of the breakdown'
    throw validationError([{ path: 'at.breakdown', message }])
  }
  const parameters = { ...breakdown.parameters, people_key: breakdown.keyOf(values) }
  return { sql: hasKey(breakdown, 'people_key'), parameters, valuesOf: breakdown.valuesOf }
}
