import { EVENT_COLUMNS, type EventRecord } from '../journal/event-record.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'

/** The columns that a condition cannot name: ids of tenants and owners, and what is only stored for searches. */
const HIDDEN_COLUMNS = ['tenant_id', 'is_system', 'owner_id', 'is_anonymous', 'data'] as const
type NamedColumn = Exclude<keyof EventRecord, (typeof HIDDEN_COLUMNS)[number]>

/** Other names of columns: those of the event object, and those of aggregation's dimensions. */
const OTHER_NAMES: Readonly<Record<string, NamedColumn>> = { event_type: 'event', createdAt: 'received_at' }

/** What a property of an event is: one of its columns, or a value in its `data`. */
export type EventProperty =
  | { kind: 'text' | 'boolean' | 'time' | 'id'; column: NamedColumn }
  /** The keys that lead to the value. They go through lists: `items.sku` is the sku of each item. */
  | { kind: 'data'; path: readonly string[] }

const DATA = 'data.'
/** Each key makes a query longer, whose length is limited. */
export const PATH_KEYS_MAX = 10

/** The property with a name such as `url_path` or `data.order.total`; null if events have no such property. */
export function eventPropertyNamed(name: string): EventProperty | null {
  if (name.startsWith(DATA)) {
    const path = pathOf(name.slice(DATA.length))
    return path.includes('') ? null : { kind: 'data', path }
  }
  const column = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : name
  if (column === undefined || !Object.hasOwn(EVENT_COLUMNS, column)) return null
  if ((HIDDEN_COLUMNS as readonly string[]).includes(column)) return null
  const named = column as NamedColumn
  return { kind: kindOf(EVENT_COLUMNS[named]), column: named }
}

/** The names of the columns that conditions can name. */
export const EVENT_PROPERTY_NAMES: readonly string[] = Object.keys(EVENT_COLUMNS).filter(
  (name) => !(HIDDEN_COLUMNS as readonly string[]).includes(name),
)

function kindOf(type: string): 'text' | 'boolean' | 'time' | 'id' {
  if (type === 'Bool') return 'boolean'
  if (type === 'UUID') return 'id'
  return type.startsWith('DateTime') ? 'time' : 'text'
}

/** Splits a path at its dots; `\.` is a dot in a key, and `\\` a backslash. */
export function pathOf(text: string): string[] {
  const keys = ['']
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    const next = text.charAt(at + 1)
    if (character === '.') keys.push('')
    else if (character === '\\' && (next === '.' || next === '\\')) {
      keys[keys.length - 1] += next
      at++
    } else keys[keys.length - 1] += character
  }
  return keys
}

/** A path as text, the opposite of `pathOf`. */
export function pathText(path: readonly string[]): string {
  return path.map((key) => key.replace(/[\\.]/g, '\\$&')).join('.')
}

/** SQL with the values of its placeholders. */
export interface Sql {
  sql: string
  parameters: QueryParameters
}

/**
 * A value in an event's data, in ClickHouse, as a JSON text: '' or null if it is missing, and a list of the items if the path goes
 * through lists. Grouping by it before its items are separated costs half as much as grouping by `dataItems`.
 * @param prefix of the names of its placeholders, which are distinct within a query.
 */
export function dataText(path: readonly string[], prefix: string): Sql {
  const [first = '', ...further] = path.map((_, index) => `{${prefix}_${index}: String}`)
  const value = `data_values[${first}]`
  // Most events lack most keys.
  const sql = further.length === 0 ? value : `if(${value} = '', '', ${further.reduce(textWithin, value)})`
  return { sql, parameters: Object.fromEntries(path.map((key, index) => [`${prefix}_${index}`, key])) }
}

/** What a JSON text has under a key: of a list, what its items have there. The text is written once, as it may be long. */
function textWithin(json: string, key: string): string {
  const ofItems = `arrayFlatten(arrayMap(x -> ${itemsOf(`JSONExtractRaw(x, ${key})`)}, JSONExtractArrayRaw(v)))`
  const text = `if(startsWith(v, '['), concat('[', arrayStringConcat(${ofItems}, ','), ']'), JSONExtractRaw(v, ${key}))`
  return `arrayMap(v -> ${text}, [${json}])[1]`
}

/**
 * The JSON texts of the items of `dataText`. A value that is no list is its only item; of a missing one, null and an empty
 * list there are none.
 */
export function dataItems(path: readonly string[], prefix: string): Sql {
  const { sql, parameters } = dataText(path, prefix)
  return { sql: itemsOf(sql), parameters }
}

/** The items of a JSON text in ClickHouse, as JSON texts. */
export function itemsOf(json: string): string {
  return `arrayFilter(y -> y NOT IN ('', 'null'), if(startsWith(${json}, '['), JSONExtractArrayRaw(${json}), [${json}]))`
}

/** The value of an event's data at a path, as `dataItems` finds it. */
export function itemsInData(data: unknown, path: readonly string[]): unknown[] {
  let items = [data]
  for (const key of path) {
    items = items.flatMap((item) => {
      const isObject = typeof item === 'object' && item !== null && !Array.isArray(item)
      const value: unknown = isObject && Object.hasOwn(item, key) ? (item as Record<string, unknown>)[key] : null
      return Array.isArray(value) ? value : [value]
    })
  }
  return items.filter((item) => item !== null && item !== undefined)
}
