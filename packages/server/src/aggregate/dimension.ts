import Type from 'typebox'
import type { JoinedCompany, JoinedContact } from '../events/event-object.ts'
import type { BucketKey } from '../figures/values-of-records.ts'

export interface Bucket {
  key: BucketKey
  /** null if none of the records has a number. */
  value: number | null
  /** Of events by contact; null if it was deleted. */
  contact?: JoinedContact | null
  /** Of events by company. */
  company?: JoinedCompany | null
}

export const PROPERTY_NAME_LENGTH_MAX = 200

/** The schema of `group_by` for one entity. @param others says which properties it also takes */
export function groupBySchema(dimensions: Readonly<Record<string, { description: string }>>, others: string) {
  const lines = Object.entries(dimensions).map(([name, { description }]) => `- \`${name}\`: ${description}`)
  return Type.String({
    minLength: 1,
    maxLength: PROPERTY_NAME_LENGTH_MAX,
    description: `What to group by: a property, or one of these.\n${lines.join('\n')}\n\n${others}`,
  })
}
