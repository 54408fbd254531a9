import Type from 'typebox'
import type { JoinedCompany, JoinedContact } from '../events/event-object.ts'
import { type Marked, TEXT, when } from '../platform/personal.ts'

/**
 * The type of a dimension's values. Records with a missing `id` are in no bucket; those with a missing `text` share
 * one. `day`, `week` and `month` are sorted by time instead of value.
 */
type DimensionKind = 'text' | 'id' | 'boolean' | 'day' | 'week' | 'month'

/** A field to group by. Its SQL, validation, documentation and error messages are derived from this. */
export interface Dimension {
  /** An expression in the SQL of the database that stores the records. */
  sql: string
  kind: DimensionKind
  description: string
  /** What its values say about people. */
  mark: Marked
}

export type Dimensions = Readonly<Record<string, Dimension>>

/** The value that a group's records share; null if they have none. */
export type BucketKey = string | boolean | null

export interface Bucket {
  key: BucketKey
  /** null if none of the records has a number. */
  value: number | null
  /** Of events by contact; null if it was deleted. */
  contact?: JoinedContact | null
  /** Of events by company. */
  company?: JoinedCompany | null
}

export const METRICS = ['count', 'avg', 'sum', 'min', 'max'] as const
export type Metric = (typeof METRICS)[number]

/** The figure to compute for each group. */
export interface Measure {
  metric: Metric
  /** The property, or the key of an event's `data`, whose numbers are used; empty for `count`. */
  field: string
  /** What is left out for a caller from whom personal values are hidden. */
  redaction?: {
    /** Groups of equal value are sorted by a hash of it and their key: the order of the keys would reveal hidden ones. */
    orderSecret: string
    /** Numbers of events, as JSON, that are phone numbers of their contacts, whatever the field's name. */
    phoneNumbers: readonly string[]
  }
}

/** What the values of some dimensions are, beside the name of one in `group_by`. */
export function markByName(dimensions: Readonly<Record<string, Pick<Dimension, 'mark'>>>): Marked {
  const entries = Object.entries(dimensions)
  return entries.reduce<Marked>((others, [name, { mark }]) => when('group_by', [name], mark, others), TEXT)
}

export function isTime({ kind }: Dimension): boolean {
  return kind === 'day' || kind === 'week' || kind === 'month'
}

/** The schema of `group_by` for one entity. */
export function groupBySchema<const Entity extends Dimensions>(dimensions: Entity) {
  const lines = Object.entries(dimensions).map(([name, { description }]) => `- \`${name}\`: ${description}`)
  return Type.Unsafe<keyof Entity & string>({
    type: 'string',
    enum: Object.keys(dimensions),
    description: `The dimension to group by.\n${lines.join('\n')}`,
  })
}
