import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { parseEmail } from '../platform/email.ts'
import { containing, endingWith, endOfMillisecond, startingWith } from '../platform/postgres/text-filters.ts'
import { DAY_MS } from '../platform/time.ts'
import { boundIn } from './bounds.ts'
import {
  type EventQuestion,
  type FilteredRecords,
  fieldNamed,
  isMetByNothing,
  isNested,
  type PropertyCondition,
  type PropertyOperator,
  questionOf,
  SEGMENT,
  type SegmentCondition,
  type SegmentFilter,
} from './language.ts'

type Condition = RawBuilder<SqlBool>

/** What compiling a filter needs besides the record. */
export interface FilterContext {
  now: Date
  records: FilteredRecords
  /** The time zone in which a date alone is a day. */
  zone: string
  /**
   * The condition that AI agents see a part of a text, for conditions that compare only that.
   * @param shows the condition for a text from which something may be hidden, with the names
   */
  isSeen?(found: SeenText, shows: (names: RawBuilder<unknown>) => Condition): Condition
  /** The condition that a record has events of which a question is true, and is not of nothing. */
  hasEvents(question: EventQuestion): Condition
  /** The condition that a record is in one of some segments. */
  isInSegment?(segmentIds: readonly string[]): Condition
}

/** A text in which a part was found. */
export interface SeenText {
  table: FilteredRecords['table']
  text: RawBuilder<unknown>
  part: string
  /** Whether the text is the name of a company, in which only names of people are hidden. */
  isCompany: boolean
}

/** A filter as a condition on the table of its records. It is null only if the result of an event condition is. */
export function compileFilter({ match, conditions }: SegmentFilter, context: FilterContext): Condition {
  // Without conditions, `all` is true and `any` is false.
  if (conditions.length === 0) return match === 'all' ? sql`true` : sql`false`
  const compiled = conditions.map((condition) => compileCondition(condition, context))
  return sql`(${sql.join(compiled, match === 'all' ? sql` AND ` : sql` OR `)})`
}

function compileCondition(condition: SegmentCondition, context: FilterContext): Condition {
  if (isNested(condition)) return compileFilter(condition, context)
  if ('property' in condition) return compileField(condition, context)
  if ('not' in condition) return sql`NOT ${compileFilter(condition.not, context)}`
  const { question, ofContact } = questionOf(condition)
  const has = context.hasEvents(question)
  const ofNothing = isMetByNothing(question)
  // Whoever has no such events is in no result, so that one lists those of whom the opposite is true.
  const answer = ofNothing ? sql<SqlBool>`NOT ${has}` : has
  const isMet = ofContact.reduce<Condition>((met, each) => {
    const isEvents = compileField(each, context)
    return ofNothing ? sql`(NOT ${isEvents} OR ${met})` : sql`(${isEvents} AND ${met})`
  }, answer)
  return condition.operator === 'did' ? isMet : sql`NOT ${isMet}`
}

const NEGATIVE: Partial<Record<PropertyOperator, PropertyOperator>> = {
  not_equals: 'equals',
  not_contains: 'contains',
  not_in: 'in',
  is_not_set: 'is_set',
}

/** Never null: a comparison with a missing value is false, and its negation true. */
function compileField(condition: PropertyCondition, context: FilterContext): Condition {
  const { of, key, isProperty } = fieldNamed(condition.property)
  const { company } = context.records
  const positive = NEGATIVE[condition.operator]
  // Whoever has no company lacks its value too: so the positive operator is compiled.
  if (positive) return sql`NOT ${compileField({ ...condition, operator: positive }, context)}`
  if (of === 'company' && company) {
    return company.meets(
      compileProperty({ ...condition, property: key }, isProperty, { ...context, records: company.records }),
    )
  }
  if (key === SEGMENT && !isProperty && context.records.hasSegments) {
    if (!context.isInSegment) throw new Error('This filter cannot name segments.')
    return context.isInSegment([condition.value ?? []].flat().map(String))
  }
  return compileProperty({ ...condition, property: of === 'company' ? condition.property : key }, isProperty, context)
}

function compileProperty(
  { property, operator, value, visible_only: visibleOnly }: PropertyCondition,
  isProperty: boolean,
  context: FilterContext,
): Condition {
  const { now, zone } = context
  const records = isProperty
    ? { ...context.records, textColumns: [], timeColumns: [], numberColumns: [] }
    : context.records
  const json = jsonOf(property, records)
  const comparable = (each: unknown) => comparableJson(property, each, records)
  const bound = (end: 'start' | 'end') => boundIn(zone, String(value), end)
  // A list matches when one of its items does.
  const itemsOr = (ofItems: Condition, ofValue: Condition) =>
    sql<SqlBool>`CASE WHEN jsonb_typeof(${json}) = 'array' THEN ${ofItems} ELSE coalesce(${ofValue}, false) END`
  switch (operator) {
    case 'equals':
      return equals(json, comparable(value))
    case 'in':
      return isIn(json, [value].flat().map(comparable))
    case 'contains':
      return hasText(property, value, containing, json, { ...context, records }, visibleOnly)
    case 'starts_with':
      return hasText(property, value, startingWith, json, { ...context, records }, visibleOnly)
    case 'ends_with':
      return hasText(property, value, endingWith, json, { ...context, records }, visibleOnly)
    case 'is_set':
      return isSet(property, records)
    case 'before':
    case 'after':
    case 'within_days': {
      const isWithin = operator === 'within_days'
      const from = isWithin
        ? new Date(now.getTime() - Number(value) * DAY_MS)
        : operator === 'after'
          ? bound('start')
          : null
      const to = isWithin ? now : operator === 'before' ? bound('end') : null
      const range = sql`tstzrange(${from}::timestamptz, ${to && endOfMillisecond(to)}::timestamptz, '[]')`
      if (records.timeColumns.includes(property)) return sql`coalesce(${records.column(property)} <@ ${range}, false)`
      if (visibleOnly) return sql`coalesce(visible_time(${records.properties}, ${property}::text) <@ ${range}, false)`
      const time = sql`timestamp_of(${records.properties} ->> ${property}::text)`
      return itemsOr(sql`${range} @> ANY(times_in(${json}))`, sql`${time} <@ ${range}`)
    }
    default: {
      const [compared, reversed] = COMPARISONS[operator as keyof typeof COMPARISONS]
      const number = sql`${String(value).trim()}::numeric`
      if (records.numberColumns.includes(property)) return sql`${records.column(property)} ${compared} ${number}`
      if (visibleOnly) {
        return sql`coalesce(visible_number(${records.properties}, ${property}::text) ${compared} ${number}, false)`
      }
      return itemsOr(
        sql`${number} ${reversed} ANY(numbers_in(${json}))`,
        sql`numeric_property(${records.properties}, ${property}::text) ${compared} ${number}`,
      )
    }
  }
}

/** With the same comparison seen from the other side. */
const COMPARISONS = {
  gt: [sql`>`, sql`<`],
  gte: [sql`>=`, sql`<=`],
  lt: [sql`<`, sql`>`],
  lte: [sql`<=`, sql`>=`],
} as const

/** A list matches if an element does: JSON containment does that, and compares numbers by value. */
function equals(json: RawBuilder<unknown>, value: string): Condition {
  return sql`coalesce(${json} @> ${value}::jsonb, false)`
}

function isIn(json: RawBuilder<unknown>, values: readonly string[]): Condition {
  return sql`coalesce(${json} @> ANY(${values}::text[]::jsonb[]), false)`
}

/**
 * Whether a value has a text, anywhere or at an end. An address has what its stored spelling has, or the one with the
 * letters of its domain.
 * @param visibleOnly if only what AI agents see of the value is compared
 */
function hasText(
  property: string,
  value: unknown,
  patternOf: (text: string) => string,
  json: RawBuilder<unknown>,
  { records, isSeen }: FilterContext,
  visibleOnly: boolean | undefined,
): Condition {
  if (visibleOnly) {
    if (!isSeen) throw new Error('This filter cannot compare what AI agents see.')
    const pattern = patternOf(String(value))
    const isCompany = COMPANY_NAMES.test(property)
    const found = { table: records.table, text: sql`(${json} #>> '{}')`, part: String(value), isCompany }
    const seen = isSeen(found, (names) => sql`property_shows(${json}, ${pattern}, ${names})`)
    // What is hidden is looked up only in texts that match.
    return sql`CASE WHEN property_contains(${json}, ${pattern}) THEN ${seen} ELSE false END`
  }
  if (!hasDomain(property, records)) return sql`property_contains(${json}, ${patternOf(String(value))})`
  const text = (property === 'email' ? parseEmail(String(value)) : null) ?? String(value)
  const spellings = sql`jsonb_build_array(${json}, readable_domain(${json} #>> '{}'))`
  return sql`property_contains(${spellings}, ${patternOf(text)})`
}

/** Properties with the name of a company. */
const COMPANY_NAMES = /^(company|organi[sz]ation)([ _-]?name)?$/i

/** Whether a value is stored with its domain in punycode, or as a domain in it. */
function hasDomain(property: string, { spelled }: FilteredRecords): boolean {
  return (property === 'email' || property === 'domain') && Object.hasOwn(spelled, property)
}

/** A value as JSON, written as the stored one is: ids are in lower case, addresses and domains have one spelling. */
function comparableJson(property: string, value: unknown, { spelled }: FilteredRecords): string {
  const spell = Object.hasOwn(spelled, property) ? spelled[property] : undefined
  return JSON.stringify(typeof value === 'string' && spell ? spell(value) : value)
}

/** An empty text or list is not a value. */
function isSet(property: string, records: FilteredRecords): Condition {
  if (records.timeColumns.includes(property)) return sql`true`
  return sql`coalesce(${jsonOf(property, records)} NOT IN ('""'::jsonb, '[]'::jsonb), false)`
}

function jsonOf(property: string, records: FilteredRecords): RawBuilder<unknown> {
  if ([...records.textColumns, ...records.numberColumns].includes(property))
    return sql`to_jsonb(${records.column(property)})`
  return sql`(${records.properties} -> ${property}::text)`
}
