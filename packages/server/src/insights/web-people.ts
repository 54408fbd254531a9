import Type, { type Static } from 'typebox'
import { validationError } from '../platform/errors.ts'
import { WORD } from '../platform/personal.ts'
import type { PeopleQuery, QuestionContext } from './question.ts'
import { readWebQuestion, requireShown, type WebQuestion, WebRowName } from './web.ts'
import { reachedGoal, reachesGoals } from './web-goals.ts'
import { hasValue, IS_SOMEBODY, isCounted, visitsOf } from './web-visits.ts'

/** Names a number of web analytics: without a field, all people. */
export const WebNumber = Type.Union([
  Type.Object({}, { title: 'WebTotalNumber', additionalProperties: false }),
  Type.Object(
    { interval: Type.String({ description: 'The key of an interval.', ...WORD }) },
    { title: 'WebIntervalNumber', additionalProperties: false },
  ),
  Type.Object(
    { goal: Type.Integer({ minimum: 1, description: 'Which goal, counted from 1.' }) },
    { title: 'WebGoalNumber', additionalProperties: false },
  ),
  WebRowName,
])

/** The people whom a number of web analytics counts. @throws ServiceError 400 naming every invalid field, `hidden_property`; 403. */
export async function peopleOfWeb(
  context: QuestionContext,
  question: WebQuestion,
  at: Static<typeof WebNumber>,
): Promise<PeopleQuery> {
  const { asked, queryIn } = await readWebQuestion(context, question)
  const query = queryIn(asked.range)
  const people = (where: string) => ({
    columns: 'person, is_contact',
    where: `${IS_SOMEBODY} AND ${where}`,
  })
  if ('goal' in at) {
    if (at.goal > query.goals.length) {
      throw validationError([{ path: 'at.goal', message: 'must be the number of one of the goals' }])
    }
    const where = `${reachedGoal(at.goal - 1)} AND ${reachesGoals(query)}`
    return { ...visitsOf(query, { withGoals: true }), outer: people(where) }
  }
  if ('list' in at) {
    requireShown(context, [at])
    const { parameters, ...visits } = visitsOf(query, { lists: [at.list] })
    const where = `${isCounted(query)} AND ${hasValue(at.list, 'at_value')}`
    return { ...visits, parameters: { ...parameters, at_value: at.value ?? '' }, outer: people(where) }
  }
  const visits = visitsOf(query, {})
  if (!('interval' in at)) return { ...visits, outer: people(isCounted(query)) }
  const index = query.intervals.keys.indexOf(at.interval)
  if (index < 0) throw validationError([{ path: 'at.interval', message: 'must be the key of one of the intervals' }])
  return { ...visits, outer: people(`${isCounted(query)} AND ${query.intervals.indexInSql} = ${index}`) }
}
