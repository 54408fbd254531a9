import { isInSet } from '../platform/clickhouse/contact-sets.ts'
import { containsFolded, containsVisible, folded } from '../platform/clickhouse/folded-text.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { DAY_MS } from '../platform/time.ts'
import { boundIn } from './bounds.ts'
import { dataItems, type EventProperty, eventPropertyNamed, type Sql } from './event-property.ts'
import { type ConditionOnEvent, isNested, type PropertyCondition, type PropertyOperator } from './language.ts'

/** What compiling conditions on events needs besides the event. */
export interface EventContext {
  now: Date
  /** The time zone in which a date alone is a day. */
  zone: string
  /** The contacts that meet a condition on `contact.…` or `company.…`. */
  contactsMeeting?(condition: PropertyCondition): FoundContacts
}

/** Contacts: the owners of their events if they are few, or a set of contact-sets/. */
export type FoundContacts = { owners: readonly string[] } | { setId: string }

/**
 * Conditions on an event, all of which must be true, in ClickHouse SQL that is never null.
 * @param prefix of the names of its placeholders, which are distinct within a query.
 */
export function compileWhere(where: readonly ConditionOnEvent[], prefix: string, context: EventContext): Sql {
  return new Compiler(prefix, context).all(where)
}

/** A property's value in an event: the JSON texts of its items, as `dataItems` has them. */
export function itemsOf(property: EventProperty | null, prefix: string): Sql {
  if (property === null) return { sql: "CAST([], 'Array(String)')", parameters: {} }
  switch (property.kind) {
    case 'data':
      return dataItems(property.path, prefix)
    case 'boolean':
      return { sql: `[if(${property.column}, 'true', 'false')]`, parameters: {} }
    case 'time':
      return { sql: `[concat('"', ${isoText(property.column)}, '"')]`, parameters: {} }
    case 'id':
      return { sql: `[concat('"', toString(${property.column}), '"')]`, parameters: {} }
    default:
      return { sql: `if(${property.column} = '', [], [toJSONString(toString(${property.column}))])`, parameters: {} }
  }
}

function isoText(column: string): string {
  return `concat(formatDateTime(${column}, '%Y-%m-%dT%H:%i:%S.', 'UTC'), leftPad(toString(toUnixTimestamp64Milli(${column}) % 1000), 3, '0'), 'Z')`
}

/** A JSON text of a number, such as `"12"`, as `numeric_property` reads them in PostgreSQL. */
const NUMERIC_TEXT = String.raw`^"(?:\\s|\\\\[tnrf])*([+-]?(?:[0-9]{1,30}(?:\\.[0-9]{0,30})?|\\.[0-9]{1,30}))(?:\\s|\\\\[tnrf])*"$`

/** The number that a JSON text is, or that is in it as text; null for any other value. */
export function numberOf(item: string): string {
  return `toFloat64OrNull(replaceRegexpOne(${item}, '${NUMERIC_TEXT}', '\\\\1'))`
}

/** A timestamp with an offset, or a date alone, as `timestamp_of` reads them in PostgreSQL. */
const TIME_TEXT = String.raw`^(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?([Zz]|[+-](0[0-9]|1[0-4]):?[0-5][0-9]))?$`

/** The milliseconds since 1970 of the time in a text; null for any other text, and for a day that does not exist. */
function timeOf(text: string): string {
  const date = `toDate32OrNull(substring(${text}, 1, 10))`
  // A date that does not exist is read as another one, or as none.
  const exists = `ifNull(toString(${date}), '') = substring(${text}, 1, 10)`
  const minutes = `toInt64(substring(${text}, 12, 2)) * 60 + toInt64(substring(${text}, 15, 2))`
  const fraction = `toInt64OrZero(rightPad(substring(extract(${text}, '\\\\.([0-9]+)'), 1, 3), 3, '0'))`
  const seconds = `toInt64OrZero(extract(substring(${text}, 17), '^:([0-9]{2})'))`
  const offset = `extract(substring(${text}, 11), '([+-][0-9]{2}:?[0-9]{2})$')`
  const away = `if(${offset} = '', 0, if(startsWith(${offset}, '-'), -1, 1) * (toInt64(substring(${offset}, 2, 2)) * 60 + toInt64(right(${offset}, 2))))`
  const time = `if(length(${text}) = 10, 0, ((${minutes} - ${away}) * 60 + ${seconds}) * 1000 + ${fraction})`
  const read = `toInt64(toDaysSinceYearZero(${date}) - 719528) * ${DAY_MS} + ${time}`
  return `if(match(${text}, '${TIME_TEXT}') AND ${exists}, ${read}, NULL)`
}

const NEGATIVE: Partial<Record<PropertyOperator, PropertyOperator>> = {
  not_equals: 'equals',
  not_contains: 'contains',
  not_in: 'in',
  is_not_set: 'is_set',
}

const COMPARISONS: Partial<Record<PropertyOperator, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' }

/** The condition that at least one item of a value meets a condition, and that a measure of one value does. */
export function compileItems(
  items: string,
  condition: Omit<PropertyCondition, 'property'>,
  prefix: string,
  context: EventContext,
): Sql {
  return new Compiler(prefix, context).items(items, condition)
}

class Compiler {
  readonly #prefix: string
  readonly #context: EventContext
  readonly #parameters: QueryParameters = {}
  #count = 0

  constructor(prefix: string, context: EventContext) {
    this.#prefix = prefix
    this.#context = context
  }

  all(where: readonly ConditionOnEvent[]): Sql {
    return this.#compiled(this.#joined(where, 'all'))
  }

  items(items: string, condition: Omit<PropertyCondition, 'property'>): Sql {
    return this.#compiled(this.#onItems(() => items, condition))
  }

  #compiled(sql: string): Sql {
    return { sql, parameters: this.#parameters }
  }

  /** Without conditions, `all` is true and `any` is false. */
  #joined(conditions: readonly ConditionOnEvent[], match: 'all' | 'any'): string {
    if (conditions.length === 0) return match === 'all' ? '1' : '0'
    const compiled = conditions.map((each) =>
      isNested(each) ? this.#joined(each.conditions, each.match) : this.#onProperty(each),
    )
    return `(${compiled.join(match === 'all' ? ' AND ' : ' OR ')})`
  }

  /** Never null: a comparison with a missing value is false, and its negation true. */
  #onProperty(condition: PropertyCondition): string {
    const { property: name, operator } = condition
    const positive = NEGATIVE[operator]
    if (positive) return `NOT ${this.#onProperty({ ...condition, operator: positive })}`
    if (/^(contact|company)\./.test(name)) return this.#ofOwner(condition)
    const property = eventPropertyNamed(name)
    if (property?.kind === 'time') {
      return this.#inTime(property.column, condition, (moment) => `fromUnixTimestamp64Milli(${moment}, 'UTC')`)
    }
    const fast = property?.kind === 'text' ? this.#onText(property.column, condition) : null
    return fast ?? this.#onItems(() => this.#use(itemsOf(property, this.#name())), condition)
  }

  #ofOwner(condition: PropertyCondition): string {
    const found = this.#context.contactsMeeting?.(condition)
    if (!found) throw new Error('These conditions cannot name properties of contacts.')
    if ('setId' in found) return isInSet(this.#named(found.setId))
    const { owners } = found
    return owners.length === 0 ? '0' : `owner_id IN ${this.#parameter('Array(UUID)', owners)}`
  }

  /** The operators that a column of text is compared with as it is; null for the others. A missing text is ''. */
  #onText(column: string, { operator, value, visible_only: visibleOnly }: PropertyCondition): string | null {
    const texts = [value ?? []].flat().filter((each) => typeof each === 'string' && each !== '')
    const text = String(value)
    switch (operator) {
      case 'equals':
        return texts.length === 0 ? '0' : `${column} = ${this.#parameter('String', text)}`
      case 'in':
        return texts.length === 0 ? '0' : `${column} IN ${this.#parameter('Array(String)', texts.map(String))}`
      case 'is_set':
        return `${column} != ''`
      case 'contains':
        return this.#contains(column, text, visibleOnly)
      case 'starts_with':
      case 'ends_with':
        return this.#hasEnd(column, operator, text, visibleOnly)
      default:
        return null
    }
  }

  /** @param itemsOf gives the JSON texts, once for each use, because placeholders are not shared. */
  #onItems(
    itemsOf: () => string,
    { operator, value, visible_only: visibleOnly }: Omit<PropertyCondition, 'property'>,
  ): string {
    const positive = NEGATIVE[operator]
    if (positive)
      return `NOT ${this.#onItems(itemsOf, { operator: positive, ...(value === undefined ? {} : { value }) })}`
    const some = (condition: string) => `arrayExists(v -> ifNull(${condition}, 0), ${itemsOf()})`
    // A number or a flag as text; an object or a list in a list is none.
    const text = `if(startsWith(v, '"'), JSONExtractString(v), if(match(v, '^[{\\\\[]'), '', v))`
    switch (operator) {
      case 'is_set':
        return some(`v NOT IN ('""', '{}', '[]')`)
      case 'equals':
      case 'in':
        return some(
          [value ?? []]
            .flat()
            .map((each) => this.#isValue(each))
            .join(' OR '),
        )
      case 'contains':
        return some(this.#contains(text, String(value), visibleOnly))
      case 'starts_with':
      case 'ends_with':
        return some(this.#hasEnd(text, operator, String(value), visibleOnly))
      case 'before':
      case 'after':
      case 'within_days':
        return some(this.#inTime(timeOf(text), { operator, ...(value === undefined ? {} : { value }) }))
      default: {
        const number = this.#parameter('Float64', Number(value))
        return some(`${numberOf('v')} ${COMPARISONS[operator]} ${number}`)
      }
    }
  }

  #isValue(value: string | number | boolean): string {
    if (typeof value === 'boolean') return `v = '${value}'`
    if (typeof value === 'number')
      return `(NOT startsWith(v, '"') AND toFloat64OrNull(v) = ${this.#parameter('Float64', value)})`
    return `(startsWith(v, '"') AND JSONExtractString(v) = ${this.#parameter('String', value)})`
  }

  #contains(text: string, part: string, visibleOnly: boolean | undefined): string {
    const name = this.#named(part)
    return visibleOnly ? containsVisible(text, name, part) : containsFolded(text, name)
  }

  /** For AI agents, as a part: only whole words of what they see are compared. */
  #hasEnd(text: string, operator: 'starts_with' | 'ends_with', part: string, visibleOnly: boolean | undefined): string {
    const name = this.#named(part)
    const has = `${operator === 'starts_with' ? 'startsWith' : 'endsWith'}(${folded(text)}, ${folded(`{${name}: String}`)})`
    return visibleOnly ? `(${has} AND ${containsVisible(text, name, part)})` : has
  }

  /** Both bounds are inclusive. @param time milliseconds since 1970, or what `read` makes of them. */
  #inTime(
    time: string,
    { operator, value }: Omit<PropertyCondition, 'property'>,
    read = (milliseconds: string) => milliseconds,
  ): string {
    const { now, zone } = this.#context
    const bound = (moment: Date) => read(this.#parameter('Int64', moment.getTime()))
    switch (operator) {
      case 'before':
        return `${time} <= ${bound(boundIn(zone, String(value), 'end'))}`
      case 'after':
        return `${time} >= ${bound(boundIn(zone, String(value), 'start'))}`
      case 'within_days':
        return `${time} BETWEEN ${bound(new Date(now.getTime() - Number(value) * DAY_MS))} AND ${bound(now)}`
      default:
        return '1'
    }
  }

  #use({ sql, parameters }: Sql): string {
    Object.assign(this.#parameters, parameters)
    return sql
  }

  #name(): string {
    return `${this.#prefix}${this.#count++}`
  }

  #named(value: QueryParameters[string]): string {
    const name = this.#name()
    this.#parameters[name] = value
    return name
  }

  #parameter(type: string, value: QueryParameters[string]): string {
    return `{${this.#named(value)}: ${type}}`
  }
}
