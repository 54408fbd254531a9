import Type from 'typebox'
import { type EventProperty, eventPropertyNamed, PATH_KEYS_MAX } from '../conditions/event-property.ts'
import { itemsOf } from '../conditions/to-clickhouse.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { ServiceError, validationError } from '../platform/errors.ts'
import { TEXT } from '../platform/personal.ts'
import type { QuestionContext } from './question.ts'

export type BreakdownValue = string | number | boolean | null

/** Values of a breakdown, with which a number of an answer is named. */
export const BreakdownValues = Type.Array(Type.Union([Type.String(TEXT), Type.Number(), Type.Boolean(), Type.Null()]), {
  maxItems: 2,
  description: 'The values of the breakdown.',
})

/** What the events of a question are divided by: a key, or a list of them, as a text. A missing value is ''. */
export interface Breakdown {
  /** The key of an event or, if `isList`, the list of its keys: it counts for each different one. */
  sql: string
  isList: boolean
  parameters: QueryParameters
  /** The JSON of a key, by which equal figures are sorted, and the same in ClickHouse. */
  json(key: string): string
  order(key: string): string
  /** Whether each value of a key is missing, in ClickHouse. */
  isMissing(key: string): string
  valuesOf(key: string): BreakdownValue[]
  /** The key of some values, the opposite of `valuesOf`. */
  keyOf(values: readonly BreakdownValue[]): string
}

/** The condition that an event counts for a key, which is a parameter. */
export function hasKey({ sql, isList }: Breakdown, parameter: string): string {
  return isList ? `has(${sql}, {${parameter}: String})` : `${sql} = {${parameter}: String}`
}

/**
 * Divides events by the values of at most two properties.
 * @throws ServiceError 400 naming what is no property of events; `hidden_property`.
 */
export function breakdownBy(
  { visibleOnly }: Pick<QuestionContext, 'visibleOnly'>,
  names: readonly string[],
  path = 'breakdown',
): Breakdown | null {
  if (names.length === 0) return null
  const parts = names.map((name, index) => {
    const property = eventPropertyNamed(name)
    const at = `${path}[${index}]`
    if (property === null) throw validationError([{ path: at, message: EXPECTED }])
    const isData = property.kind === 'data'
    if (isData && visibleOnly) throw hidden(name)
    if (isData && property.path.length > PATH_KEYS_MAX) {
      throw validationError([{ path: at, message: `must name at most ${PATH_KEYS_MAX} keys` }])
    }
    return partOf(property, `breakdown${index}`)
  })
  const [only, second] = parts
  if (only === undefined) return null
  return second === undefined ? only : pairOf(only, second)
}

const EXPECTED = 'must be a property of events, such as country, utm_source or data.plan'

function hidden(name: string): ServiceError {
  const message = `Personal data is hidden from this connection, so it cannot break down by ${name}. Use a column such as country or url_path.`
  return new ServiceError(400, 'hidden_property', message)
}

function partOf(property: EventProperty, prefix: string): Breakdown {
  if (property.kind === 'text') {
    return {
      // A text of few values is grouped by their numbers.
      sql: property.column,
      isList: false,
      parameters: {},
      json: (key) => JSON.stringify(key),
      order: (key) => `toJSONString(toString(${key}))`,
      isMissing: (key) => `${key} = ''`,
      valuesOf: (key) => [key === '' ? null : key],
      keyOf: ([value]) => String(value ?? ''),
    }
  }
  const { sql, parameters } = itemsOf(property, prefix)
  return {
    sql: `if(empty(${sql} AS ${prefix}_items), [''], arrayDistinct(${prefix}_items))`,
    isList: true,
    parameters,
    json: (key) => key,
    order: (key) => key,
    isMissing: (key) => `${key} = ''`,
    valuesOf: (key) => [valueIn(key)],
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
    json: (key) => {
      const [a, b] = apart(key)
      return `[${first.json(a)},${second.json(b)}]`
    },
    // Close to the order of the JSON: keys of one length are together.
    order: (key) => key,
    isMissing: (key) => `${key} = '0:'`,
    valuesOf: (key) => {
      const [a, b] = apart(key)
      return [...first.valuesOf(a), ...second.valuesOf(b)]
    },
    keyOf: ([a = null, b = null]) => {
      const [keyA, keyB] = [first.keyOf([a]), second.keyOf([b])]
      return `${Buffer.byteLength(keyA)}:${keyA}${keyB}`
    },
  }
}
