import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { isSeen, type MayName } from '../contacts/visible-texts.ts'
import { parseEmail } from '../platform/email.ts'
import { containing, endOfMillisecond } from '../platform/postgres/text-filters.ts'
import { DAY_MS, parseTimestamp } from '../platform/time.ts'
import {
  CONTACTS,
  type EventMatch,
  type FilteredRecords,
  isNested,
  type PropertyCondition,
  type SegmentCondition,
  type SegmentFilter,
} from './filter.ts'

type Condition = RawBuilder<SqlBool>

/** What compiling a filter needs besides the record. */
export interface FilterContext {
  now: Date
  /** Contacts, unless given. */
  records?: FilteredRecords
  /** Whether names of contacts may overlap with a text that is searched for; they may, unless given. */
  mayName?: MayName
  /** The condition that a contact has enough matching events. */
  hasEvents(match: EventMatch): Condition
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
  if (!('event' in condition)) return compileProperty(condition, context)
  const has = context.hasEvents(condition.event)
  return condition.operator === 'did' ? has : sql`NOT ${has}`
}

/** Never null: a comparison with a missing value is false, and its negation true. */
function compileProperty(
  { property, operator, value, visible_only: visibleOnly }: PropertyCondition,
  { now, records = CONTACTS, mayName = () => true }: FilterContext,
): Condition {
  const json = jsonOf(property, records)
  const comparable = (each: unknown) => comparableJson(property, each, records)
  switch (operator) {
    case 'equals':
      return equals(json, comparable(value))
    case 'not_equals':
      return sql`NOT ${equals(json, comparable(value))}`
    case 'in':
      return isIn(json, [value].flat().map(comparable))
    case 'not_in':
      return sql`NOT ${isIn(json, [value].flat().map(comparable))}`
    case 'contains':
      return containsText(property, value, json, records, visibleOnly ? mayName : null)
    case 'not_contains':
      return sql`NOT ${containsText(property, value, json, records, visibleOnly ? mayName : null)}`
    case 'is_set':
      return isSet(property, records)
    case 'is_not_set':
      return sql`NOT ${isSet(property, records)}`
    case 'before':
      return sql`coalesce(${timeOf(property, records, visibleOnly)} <= ${endOfMillisecond(boundOf(value, 'end'))}::timestamptz, false)`
    case 'after':
      return sql`coalesce(${timeOf(property, records, visibleOnly)} >= ${boundOf(value, 'start')}::timestamptz, false)`
    case 'within_days': {
      const from = new Date(now.getTime() - Number(value) * DAY_MS)
      const until = endOfMillisecond(now)
      return sql`coalesce(${timeOf(property, records, visibleOnly)} BETWEEN ${from}::timestamptz AND ${until}::timestamptz, false)`
    }
    default: {
      const read = visibleOnly ? sql`visible_number` : sql`numeric_property`
      const number = sql`${read}(${records.properties}, ${property}::text)`
      return sql`coalesce(${number} ${COMPARISONS[operator]} ${String(value).trim()}::numeric, false)`
    }
  }
}

const COMPARISONS = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }

/** A list matches if an element does: JSON containment does that, and compares numbers by value. */
function equals(json: RawBuilder<unknown>, value: string): Condition {
  return sql`coalesce(${json} @> ${value}::jsonb, false)`
}

function isIn(json: RawBuilder<unknown>, values: readonly string[]): Condition {
  return sql`coalesce(${json} @> ANY(${values}::text[]::jsonb[]), false)`
}

/**
 * An address contains what its stored spelling has, or the one with the letters of its domain.
 * @param mayName if only what AI agents see of the value is compared
 */
function containsText(
  property: string,
  value: unknown,
  json: RawBuilder<unknown>,
  records: FilteredRecords,
  mayName: MayName | null,
): Condition {
  if (mayName) {
    const pattern = containing(String(value))
    const part = String(value)
    const isCompany = COMPANY_NAMES.test(property)
    const found = { table: records.table, text: sql`(${json} #>> '{}')`, part, isCompany, mayName: mayName(part) }
    const seen = isSeen(found, (names) => sql`property_shows(${json}, ${pattern}, ${names})`)
    // What is hidden is looked up only in texts that match.
    return sql`CASE WHEN property_contains(${json}, ${pattern}) THEN ${seen} ELSE false END`
  }
  if (!hasDomain(property, records)) return sql`property_contains(${json}, ${containing(String(value))})`
  const text = (property === 'email' ? parseEmail(String(value)) : null) ?? String(value)
  const spellings = sql`jsonb_build_array(${json}, readable_domain(${json} #>> '{}'))`
  return sql`property_contains(${spellings}, ${containing(text)})`
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
  if (records.textColumns.includes(property)) return sql`to_jsonb(${records.column(property)})`
  return sql`(${records.properties} -> ${property}::text)`
}

function timeOf(property: string, records: FilteredRecords, visibleOnly: boolean | undefined): RawBuilder<unknown> {
  if (records.timeColumns.includes(property)) return records.column(property)
  if (visibleOnly) return sql`visible_time(${records.properties}, ${property}::text)`
  return sql`timestamp_of(${records.properties} ->> ${property}::text)`
}

/** A date alone means its start as a lower bound and its end as an upper one: both bounds are inclusive. */
function boundOf(value: unknown, dayMeans: 'start' | 'end'): Date {
  const bound = parseTimestamp(String(value), dayMeans)
  if (bound === null) throw new Error('A stored filter compares with a value that is not a timestamp.')
  return bound
}
