import Type from 'typebox'

/**
 * What the values of a dimension are. A record without an `id` makes no bucket; a missing `text` has a bucket of its
 * own; `day`, `week` and `month` are ordered by time and not by value.
 */
type DimensionKind = 'text' | 'id' | 'boolean' | 'day' | 'week' | 'month'

/** One thing to group by. The SQL, the validation, the documentation and the error text all come from this. */
export interface Dimension {
  /** The expression in the SQL of the engine that holds the records. */
  sql: string
  kind: DimensionKind
  description: string
}

export type Dimensions = Readonly<Record<string, Dimension>>

/** The value of one group: null where it is missing. */
export type BucketKey = string | boolean | null

export interface Bucket {
  key: BucketKey
  /** null where none of the records has a number. */
  value: number | null
}

export const METRICS = ['count', 'avg', 'sum', 'min', 'max'] as const
export type Metric = (typeof METRICS)[number]

/** What is computed for each group. */
export interface Measure {
  metric: Metric
  /** The property or the key of `data` whose numbers are meant; count has none. */
  field: string
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
    description: `What to group by.\n${lines.join('\n')}`,
  })
}
