import Type from 'typebox'
import type { JoinedCompany, JoinedContact } from '../events/event-object.ts'
import { type Marked, valueNamedBy, when } from '../platform/personal.ts'

/** The value that a group's records share; null if they have none. */
export type BucketKey = string | number | boolean | null

export interface Bucket {
  key: BucketKey
  /** null if none of the records has a number. */
  value: number | null
  /** Of events by contact; null if it was deleted. */
  contact?: JoinedContact | null
  /** Of events by company. */
  company?: JoinedCompany | null
}

/** What the values of some dimensions are, beside the name of one in `group_by`; all others are properties. */
export function markByName(dimensions: Readonly<Record<string, { mark: Marked }>>): Marked {
  const entries = Object.entries(dimensions)
  // The tenant may hide any property.
  const property = valueNamedBy('group_by')
  return entries.reduce<Marked>((others, [name, { mark }]) => when('group_by', [name], mark, others), property)
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
