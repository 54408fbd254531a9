import { createHash } from 'node:crypto'
import Type from 'typebox'
import {
  dataText,
  type EventProperty,
  eventPropertyNamed,
  PATH_KEYS_MAX,
  type Sql,
} from '../conditions/event-property.ts'
import { itemsOf } from '../conditions/to-clickhouse.ts'
import { EVENT_MARKS, markByName } from '../figures/marks-by-name.ts'
import { isShownItem, phoneNumbersIn } from '../figures/phone-numbers.ts'
import { copyValuesOfContacts } from '../figures/values-of-contacts.ts'
import { type RecordGrouping, recordValue } from '../figures/values-of-records.ts'
import { valuesOfContact } from '../platform/clickhouse/contact-sets.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { TEXT, WORD } from '../platform/personal.ts'
import { unknownPropertyWarnings } from '../properties/unknown.ts'
import { type Asked, inRange, type QuestionContext } from './question.ts'
import type { Range } from './range.ts'

export type BreakdownValue = string | number | boolean | null

/** Values of a breakdown, with which a number of an answer is named. */
export const BreakdownValues = Type.Array(Type.Union([Type.String(TEXT), Type.Number(), Type.Boolean(), Type.Null()]), {
  maxItems: 2,
  description: 'The values of the breakdown.',
})

/** The field of an answer with the names of what it is broken down by. */
export const BreakdownNames = Type.Optional(
  Type.Array(Type.String(WORD), {
    description: 'The properties whose values each `breakdown` has, as the question names them.',
  }),
)

/** A value of a breakdown in an answer: what it says about people follows from its name in `BreakdownNames`. */
export const ValueInAnswer = Type.Union(
  [Type.String(), Type.Number(), Type.Boolean(), Type.Null()],
  markByName('breakdown_by', EVENT_MARKS),
)

/** The field `BreakdownNames` of an answer. */
export function namesOf(names: string[] = []): { breakdown_by?: string[] } {
  return names.length === 0 ? {} : { breakdown_by: names }
}

/** What the events of a question are divided by: a key, or a list of them, as a text. A missing value is ''. */
export interface Breakdown {
  /** The key of an event or, if `isList`, the list of its keys: it counts for each different one. */
  sql: string
  isList: boolean
  parameters: QueryParameters
  /** Those of them that are sets of contacts, whose values a query needs. */
  valuesOf: readonly string[]
  /** A text of a key by which equal figures are sorted, and the same in ClickHouse. */
  orderOf(key: string): string
  order(key: string): string
  /** Whether each value of a key is missing, in ClickHouse. */
  isMissing(key: string): string
  valuesOfKey(key: string): BreakdownValue[]
  /** The key of some values, the opposite of `valuesOfKey`. */
  keyOf(values: readonly BreakdownValue[]): string
  /** The same of events none of whose values is a list, without `isList`: it costs half as much. */
  withoutLists?: Breakdown
}

/** Whether a key of a breakdown `withoutLists` is a list after all. */
export function isListKey(key: string): string {
  return `startsWith(${key}, '[')`
}

/** The condition that an event counts for a key, which is a parameter. */
export function hasKey({ sql, isList }: Breakdown, parameter: string): string {
  return isList ? `has(${sql}, {${parameter}: String})` : `${sql} = {${parameter}: String}`
}

/** The events that are broken down. */
export interface BrokenDown {
  asked: Asked
  meant: readonly Sql[]
}

/**
 * Divides events by the values of at most two properties, of the events or of their contacts and companies.
 * @throws ServiceError 400 naming what is no property, `hidden_property`; 403 without the scope of contacts.
 */
export async function breakdownBy(
  context: QuestionContext,
  events: BrokenDown,
  names: readonly string[],
): Promise<Breakdown | null> {
  const details = names.flatMap((name, index): ErrorDetail[] => {
    const message = problemOf(name)
    return message === null ? [] : [{ path: `breakdown[${index}]`, message }]
  })
  if (details.length > 0) throw validationError(details)
  if (names.some((name) => OF_CONTACT.test(name))) context.requireScope('contacts:read')
  const parts: Breakdown[] = []
  for (const [index, name] of names.entries()) parts.push(await partNamed(context, events, name, `breakdown${index}`))
  const mayBeUnknown = names.filter((name) => !isDimension(name, events.asked.zone))
  for (const warning of await unknownPropertyWarnings(context.tenant, 'events', mayBeUnknown)) context.warn(warning)
  const [only, second] = parts
  if (only === undefined) return null
  const breakdown = second === undefined ? only : pairOf(only, second)
  return context.redaction === undefined ? breakdown : inSecretOrder(breakdown, context.redaction.orderSecret)
}

const EXPECTED =
  'must be a property of events, contacts or companies, such as country, data.plan, contact.plan or company.industry'
const OF_CONTACT = /^(?:contact\.|(?=company\..))(.+)$/s

/** The value of contacts that a name of events means, of them or of their companies; null for a property of the events. */
function recordOf(name: string, timeZone: string): RecordGrouping | null {
  const [, ofContact] = OF_CONTACT.exec(name) ?? []
  return ofContact === undefined ? null : { entity: 'contacts', name: ofContact, timeZone }
}

/** Whether contacts have a value with a name that is no property, such as the day on which they were created. */
function isDimension(name: string, timeZone: string): boolean {
  const record = recordOf(name, timeZone)
  return record !== null && recordValue(record).isKnown === true
}

function problemOf(name: string): string | null {
  if (OF_CONTACT.test(name)) return null
  const property = eventPropertyNamed(name)
  if (property === null) return EXPECTED
  const isTooDeep = property.kind === 'data' && property.path.length > PATH_KEYS_MAX
  return isTooDeep ? `must name at most ${PATH_KEYS_MAX} keys` : null
}

/** What one valid name means. @param prefix of the names of its placeholders */
async function partNamed(
  { tenant, visibleOnly }: QuestionContext,
  { asked, meant }: BrokenDown,
  name: string,
  prefix: string,
): Promise<Breakdown> {
  const range = rangeOf(asked)
  const record = recordOf(name, asked.zone)
  if (record !== null) {
    const inTime = inRange(range)
    const events = {
      where: [...asked.where, ...inTime.where, meant.map(({ sql }) => sql).join(' OR ')],
      parameters: Object.assign({}, asked.parameters, inTime.parameters, ...meant.map(({ parameters }) => parameters)),
    }
    const setId = await copyValuesOfContacts(tenant, events, record, visibleOnly)
    return ofItems({ sql: valuesOfContact(prefix), parameters: { [prefix]: setId } }, prefix, [prefix])
  }
  const property = eventPropertyNamed(name)
  if (property === null) throw new Error('A name is checked before it is used.')
  if (property.kind === 'text') return ofText(property.column)
  const items = itemsOf(property, prefix)
  if (property.kind !== 'data') return ofItems(items, prefix)
  if (!visibleOnly) return { ...ofItems(items, prefix), withoutLists: ofValue(property.path, prefix) }
  const inTime = { date_after: new Date(range.fromMs), date_before: new Date(range.untilMs), includeSystem: true }
  const hidden = await phoneNumbersIn(tenant, inTime, property.path)
  const shown = `arrayFilter(item -> ${isShownItem(`${prefix}_hidden`)}, ${items.sql})`
  return ofItems({ sql: shown, parameters: { ...items.parameters, [`${prefix}_hidden`]: hidden } }, prefix)
}

/** Everything between the ends of a question's ranges. */
function rangeOf({ range, compared }: Asked): Range {
  const { fromMs, untilMs } = compared ?? range
  return { fromMs: Math.min(range.fromMs, fromMs), untilMs: Math.max(range.untilMs, untilMs) }
}

function ofText(column: Extract<EventProperty, { column: string }>['column']): Breakdown {
  return {
    // A text of few values is grouped by their numbers.
    sql: column,
    isList: false,
    parameters: {},
    valuesOf: [],
    orderOf: (key) => JSON.stringify(key),
    order: (key) => `toJSONString(toString(${key}))`,
    isMissing: (key) => `${key} = ''`,
    valuesOfKey: (key) => [key === '' ? null : key],
    keyOf: ([value]) => String(value ?? ''),
  }
}

/** The JSON text of a value in data is the key: that of a list, too. */
function ofValue(path: readonly string[], prefix: string): Breakdown {
  const { sql, parameters } = dataText(path, prefix)
  const text = `if((${sql} AS ${prefix}_text) = 'null', '', ${prefix}_text)`
  return { ...ofItems({ sql: text, parameters }, prefix), sql: text, isList: false }
}

/** The JSON texts of a list are the keys. */
function ofItems({ sql, parameters }: Sql, prefix: string, valuesOf: readonly string[] = []): Breakdown {
  return {
    sql: `if(empty(${sql} AS ${prefix}_items), [''], arrayDistinct(${prefix}_items))`,
    isList: true,
    parameters,
    valuesOf,
    orderOf: (key) => key,
    order: (key) => key,
    isMissing: (key) => `${key} = ''`,
    valuesOfKey: (key) => [valueIn(key)],
    keyOf: ([value = null]) => jsonOf(value),
  }
}

/** An object, or a list in a list, stays JSON. */
function valueIn(json: string): BreakdownValue {
  if (json === '') return null
  const value = JSON.parse(json) as BreakdownValue | object
  return typeof value === 'object' && value !== null ? json : (value as BreakdownValue)
}

function jsonOf(value: BreakdownValue): string {
  if (value === null) return ''
  return typeof value === 'string' && isCompound(value) ? value : JSON.stringify(value)
}

/** Whether a value is the JSON of an object or a list. A text that looks like one is not told apart from it. */
function isCompound(text: string): boolean {
  if (!/^[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Both keys in one, with the length of the first before them. */
function pairOf(first: Breakdown, second: Breakdown): Breakdown {
  const joined = (a: string, b: string) => `concat(toString(length(${a})), ':', ${a}, ${b})`
  const listOf = ({ sql, isList }: Breakdown) => (isList ? sql : `[toString(${sql})]`)
  const isList = first.isList || second.isList
  const apart = (key: string): [string, string] => {
    const colon = key.indexOf(':')
    // ClickHouse counts bytes.
    const bytes = Buffer.from(key.slice(colon + 1))
    const length = Number(key.slice(0, colon))
    return [bytes.subarray(0, length).toString(), bytes.subarray(length).toString()]
  }
  return {
    sql: isList
      ? `arrayFlatten(arrayMap(a -> arrayMap(b -> ${joined('a', 'b')}, ${listOf(second)}), ${listOf(first)}))`
      : joined(`toString(${first.sql})`, `toString(${second.sql})`),
    isList,
    parameters: { ...first.parameters, ...second.parameters },
    valuesOf: [...first.valuesOf, ...second.valuesOf],
    orderOf: (key) => {
      const [a, b] = apart(key)
      return `[${first.orderOf(a)},${second.orderOf(b)}]`
    },
    // Close to the order of the JSON: keys of one length are together.
    order: (key) => key,
    isMissing: (key) => `${key} = '0:'`,
    valuesOfKey: (key) => {
      const [a, b] = apart(key)
      return [...first.valuesOfKey(a), ...second.valuesOfKey(b)]
    },
    keyOf: ([a = null, b = null]) => {
      const [keyA, keyB] = [first.keyOf([a]), second.keyOf([b])]
      return `${Buffer.byteLength(keyA)}:${keyA}${keyB}`
    },
  }
}

/** Equal figures in an order that tells nothing about hidden values: the caller could send values between them. */
function inSecretOrder(breakdown: Breakdown, orderSecret: string): Breakdown {
  return {
    ...breakdown,
    parameters: { ...breakdown.parameters, order_secret: orderSecret },
    orderOf: (key) =>
      createHash('md5')
        .update(orderSecret + key)
        .digest('hex'),
    order: (key) => `MD5(concat({order_secret: String}, toString(${key})))`,
  }
}
