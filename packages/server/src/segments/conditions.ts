import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { containing, endOfMillisecond } from '../platform/postgres/text-filters.ts'
import { parseTimestamp } from '../platform/time.ts'
import {
  type EventMatch,
  isNested,
  type PropertyCondition,
  type SegmentCondition,
  type SegmentFilter,
  TIME_COLUMNS,
} from './filter.ts'

const DAY_MS = 86_400_000

type Condition = RawBuilder<SqlBool>

/** What compiling a filter needs besides the contact. */
export interface FilterContext {
  now: Date
  /** The condition that a contact has enough matching events. */
  hasEvents(match: EventMatch): Condition
}

/** A filter as a condition on `contacts`. It is null only if the result of an event condition is. */
export function compileFilter({ match, conditions }: SegmentFilter, context: FilterContext): Condition {
  // Without conditions, `all` is true and `any` is false.
  if (conditions.length === 0) return match === 'all' ? sql`true` : sql`false`
  const compiled = conditions.map((condition) => compileCondition(condition, context))
  return sql`(${sql.join(compiled, match === 'all' ? sql` AND ` : sql` OR `)})`
}

function compileCondition(condition: SegmentCondition, context: FilterContext): Condition {
  if (isNested(condition)) return compileFilter(condition, context)
  if (!('event' in condition)) return compileProperty(condition, context.now)
  const has = context.hasEvents(condition.event)
  return condition.operator === 'did' ? has : sql`NOT ${has}`
}

/** Never null: a comparison with a missing value is false, and its negation true. */
function compileProperty({ property, operator, value }: PropertyCondition, now: Date): Condition {
  const json = jsonOf(property)
  switch (operator) {
    case 'equals':
      return equals(json, property, value)
    case 'not_equals':
      return sql`NOT ${equals(json, property, value)}`
    case 'in':
      return isIn(json, property, value)
    case 'not_in':
      return sql`NOT ${isIn(json, property, value)}`
    case 'contains':
      return sql`property_contains(${json}, ${containing(String(value))})`
    case 'not_contains':
      return sql`NOT property_contains(${json}, ${containing(String(value))})`
    case 'is_set':
      return isSet(property)
    case 'is_not_set':
      return sql`NOT ${isSet(property)}`
    case 'before':
      return sql`coalesce(${timeOf(property)} <= ${endOfMillisecond(boundOf(value, 'end'))}::timestamptz, false)`
    case 'after':
      return sql`coalesce(${timeOf(property)} >= ${boundOf(value, 'start')}::timestamptz, false)`
    case 'within_days': {
      const from = new Date(now.getTime() - Number(value) * DAY_MS)
      const until = endOfMillisecond(now)
      return sql`coalesce(${timeOf(property)} BETWEEN ${from}::timestamptz AND ${until}::timestamptz, false)`
    }
    default: {
      const number = sql`numeric_property(contacts.properties, ${property}::text)`
      return sql`coalesce(${number} ${COMPARISONS[operator]} ${String(value).trim()}::numeric, false)`
    }
  }
}

const COMPARISONS = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }

/** A list matches if an element does: JSON containment does that, and compares numbers by value. */
function equals(json: RawBuilder<unknown>, property: string, value: unknown): Condition {
  return sql`coalesce(${json} @> ${comparable(property, value)}::jsonb, false)`
}

function isIn(json: RawBuilder<unknown>, property: string, value: unknown): Condition {
  const values = (Array.isArray(value) ? value : [value]).map((each) => comparable(property, each))
  return sql`coalesce(${json} @> ANY(${values}::text[]::jsonb[]), false)`
}

/** A value as JSON. E-mail addresses and ids are stored in lower case, so they are compared in lower case. */
function comparable(property: string, value: unknown): string {
  const lowered = (property === 'email' || property === 'company_id') && typeof value === 'string'
  return JSON.stringify(lowered ? value.trim().toLowerCase() : value)
}

/** An empty text or list is not a value. */
function isSet(property: string): Condition {
  if (isTimeColumn(property)) return sql`true`
  return sql`coalesce(${jsonOf(property)} NOT IN ('""'::jsonb, '[]'::jsonb), false)`
}

function jsonOf(property: string): RawBuilder<unknown> {
  if (property === 'email') return sql`to_jsonb(contacts.email)`
  if (property === 'company_id') return sql`to_jsonb(contacts.company_id)`
  if (property === 'creation_source') return sql`to_jsonb(contacts.creation_source)`
  return sql`(contacts.properties -> ${property}::text)`
}

function timeOf(property: string): RawBuilder<unknown> {
  if (property === 'created_at') return sql`contacts.created_at`
  if (property === 'updated_at') return sql`contacts.updated_at`
  if (property === 'first_seen_at') return sql`contacts.first_seen_at`
  return sql`timestamp_of(contacts.properties ->> ${property}::text)`
}

function isTimeColumn(property: string): boolean {
  return (TIME_COLUMNS as readonly string[]).includes(property)
}

/** A date alone means its start as a lower bound and its end as an upper one: both bounds are inclusive. */
function boundOf(value: unknown, dayMeans: 'start' | 'end'): Date {
  const bound = parseTimestamp(String(value), dayMeans)
  if (bound === null) throw new Error('A stored filter compares with a value that is not a timestamp.')
  return bound
}
