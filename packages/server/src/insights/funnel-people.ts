import { isDeepStrictEqual } from 'node:util'
import Type, { type Static } from 'typebox'
import { EVENT_ID_ORDER } from '../events/table.ts'
import { CONTACT_OF_EVENT, NOBODY } from '../platform/clickhouse/owner-links.ts'
import { validationError } from '../platform/errors.ts'
import { BreakdownValues } from './breakdown.ts'
import { type FunnelQuestion, readFunnel } from './funnel.ts'
import { attemptColumns, ofFirstEvent, REACHED } from './funnel-attempts.ts'
import { columnsOf, keysOf, partsOf, stepsByKey } from './funnel-figures.ts'
import { PERSON, type PeopleQuery, type QuestionContext } from './question.ts'

/** Values of a breakdown that are looked at for the one that is asked for. */
const VALUES_MAX = 10_000

/** Names a number of a funnel. */
export const FunnelNumber = Type.Object(
  {
    step: Type.Integer({ minimum: 1, description: 'The step; the first is 1.' }),
    dropped: Type.Optional(Type.Boolean({ description: 'Those who reached the step and not the next one.' })),
    breakdown: Type.Optional(BreakdownValues),
  },
  { title: 'FunnelNumber', additionalProperties: false },
)
export type FunnelNumber = Static<typeof FunnelNumber>

/**
 * The query of the people whom a number of a funnel counts, of sessions whose attempt began with an event of theirs: rows of
 * `person`, the id of a contact or of an anonymous visitor, and `is_contact` (1 or 0).
 * @throws ServiceError 400 naming every invalid field of the question or of `at`
 */
export async function funnelPeople(
  context: QuestionContext,
  question: FunnelQuestion,
  at: FunnelNumber,
): Promise<PeopleQuery> {
  requireStep(question, at)
  const { asked, queryIn } = await readFunnel(context, at.breakdown ? question : { ...question, breakdown: [] })
  const query = await queryIn(asked.range)
  const { breakdown } = query
  const values = at.breakdown
  const isAsked = (key: string) => isDeepStrictEqual(breakdown?.valuesOfKey(key), values)
  const known = breakdown && values ? (await stepsByKey(query, breakdown, VALUES_MAX)).ofKeys : null
  const keys = known?.map(({ key }) => key).filter(isAsked)
  const { attempts, ...parts } = partsOf(query)
  const person = `(${breakdown && keys ? keysOf(breakdown) : '[]'}, ${PERSON}, ${CONTACT_OF_EVENT} != ${NOBODY})`
  const isOfKey = keys ? 'AND hasAny(found.person.1, {keys: Array(String)})' : ''
  return {
    name: 'insights.funnel_people',
    ...parts,
    withContacts: true,
    ...(breakdown && keys ? { valuesOf: breakdown.valuesOf } : {}),
    parameters: { ...parts.parameters, ...(keys ? { ...breakdown?.parameters, keys } : {}) },
    ...columnsOf(attemptColumns(attempts), ofFirstEvent(attempts, EVENT_ID_ORDER, person, 'person')),
    outer: {
      columns: 'found.person.2 AS person, found.person.3 AS is_contact',
      where: `found.${REACHED} ${at.dropped ? '=' : '>='} ${at.step} AND found.person.2 != ${NOBODY} ${isOfKey}`,
      groupBy: 'person, is_contact',
    },
  }
}

function requireStep({ steps, breakdown = [] }: FunnelQuestion, at: FunnelNumber): void {
  const { length } = steps
  const details = [
    ...(at.step >= 1 && at.step <= length ? [] : [{ path: 'at.step', message: `must be from 1 to ${length}` }]),
    ...(at.dropped && at.step === length ? [{ path: 'at.dropped', message: 'must be false: no step follows' }] : []),
    ...(at.breakdown && at.breakdown.length !== breakdown.length
      ? [
          {
            path: 'at.breakdown',
            message: `must have one value for each property of the breakdown: ${breakdown.length}`,
          },
        ]
      : []),
  ]
  if (details.length > 0) throw validationError(details)
}
