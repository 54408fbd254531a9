import Type from 'typebox'
import type { InsightMatch } from '../conditions/language.ts'
import { bag } from '../platform/personal.ts'
import { InsightKindField, peopleBehind, QuestionField } from './kinds.ts'
import { amongPeople, type QuestionContext } from './question.ts'

export const PEOPLE_INPUT = {
  kind: InsightKindField,
  question: QuestionField,
  at: Type.Record(Type.String(), Type.Unknown(bag('any')), {
    description:
      'Which number. trend: `{"series": "A", "interval": "2026-10-25", "breakdown": ["DE"]}`, where all but the series may be left out. funnel: `{"step": 2}`, with `"dropped": true` those who went no further, and `breakdown`. retention: `{"cohort": "2026-W43", "interval": 1}`, or the cohort alone. paths: `{"step": 1, "from": "/", "to": "/pricing"}` or `{"step": 1, "name": "/"}`.',
  }),
} as const

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
