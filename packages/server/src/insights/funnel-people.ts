import { isDeepStrictEqual } from 'node:util'
import { EVENT_ID_ORDER } from '../events/table.ts'
import { CONTACT_OF_EVENT, NOBODY } from '../platform/clickhouse/owner-links.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import { validationError } from '../platform/errors.ts'
import type { BreakdownValue } from './breakdown.ts'
import { type FunnelQuestion, readFunnel } from './funnel.ts'
import { attemptColumns, ofFirstEvent, REACHED } from './funnel-attempts.ts'
import { columnsOf, keysOf, partsOf, stepsByKey } from './funnel-figures.ts'
import { PERSON, type QuestionContext } from './question.ts'

/** Values of a breakdown that are looked at for the one that is asked for. */
const VALUES_MAX = 10_000

/** A number of a funnel. */
export interface AtStep {
  /** From 1. */
  step: number
  /** Those who reached the step and not the next one. */
  dropped?: boolean
  /** The values of one group. */
  breakdown?: BreakdownValue[]
}

/**
 * The query of the people whom a number of a funnel counts, of sessions whose attempt began with an event of theirs: rows of
 * `person`, the id of a contact or of an anonymous visitor, and `is_contact` (1 or 0).
 * @throws ServiceError 400 naming every invalid field of the question or of `at`
 */
export async function funnelPeople(
  context: QuestionContext,
  question: FunnelQuestion,
  at: AtStep,
): Promise<EventSelect> {
  requireStep(question, at)
  const { range, queryIn } = await readFunnel(context, question)
  const query = await queryIn(range)
  const { breakdown } = query
  const values = at.breakdown
  const isAsked = (key: string) => isDeepStrictEqual(breakdown?.valuesOf(key), values)
  const known = breakdown && values ? (await stepsByKey(query, breakdown, VALUES_MAX)).ofKeys : null
  const keys = known?.map(({ key }) => key).filter(isAsked)
  const { attempts, ...parts } = partsOf(query)
  const person = `(${breakdown && keys ? keysOf(breakdown) : '[]'}, ${PERSON}, ${CONTACT_OF_EVENT} != ${NOBODY})`
  const isOfKey = keys ? 'AND hasAny(found.person.1, {keys: Array(String)})' : ''
  return {
    name: 'insights.funnel_people',
    ...parts,
    withContacts: true,
    parameters: { ...parts.parameters, ...(keys ? { ...breakdown?.parameters, keys } : {}) },
    ...columnsOf(attemptColumns(attempts), ofFirstEvent(attempts, EVENT_ID_ORDER, person, 'person')),
    outer: {
      columns: 'found.person.2 AS person, found.person.3 AS is_contact',
      where: `found.${REACHED} ${at.dropped ? '=' : '>='} ${at.step} AND found.person.2 != ${NOBODY} ${isOfKey}`,
      groupBy: 'person, is_contact',
    },
  }
}

function requireStep({ steps, breakdown = [] }: FunnelQuestion, at: AtStep): void {
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
