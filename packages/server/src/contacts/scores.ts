import Type from 'typebox'
import { TEXT } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'

const ScoreReason = Type.Object(
  {
    points: Type.Integer({ examples: [20] }),
    text: Type.String({
      description: 'The filter of the rule as a sentence.',
      examples: ['Has viewed a page at a URL containing “/pricing” in the last 30 days'],
      ...TEXT,
    }),
  },
  { title: 'ScoreReason' },
)

export const ContactScore = Type.Object(
  {
    value: Type.Integer({
      description: 'The sum of the points of `reasons`, as of now; the property follows within 10 seconds.',
    }),
    reasons: Type.Array(ScoreReason, { description: 'The rules that match, in their order.' }),
  },
  { title: 'ContactScore' },
)

/** The scores of a contact, by the name of the property. */
export const ContactScores = Type.Record(Type.String(), ContactScore)
export type ContactScores = Type.Static<typeof ContactScores>

/** Computes the scores of some contacts with their reasons. */
export type ScoresOf = (
  tenant: Tenant,
  contactIds: readonly string[],
  now: Date,
) => Promise<ReadonlyMap<string, ContactScores>>
