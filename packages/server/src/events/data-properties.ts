import type { Tenant } from '../platform/tenant.ts'
import { eventConditions } from './conditions.ts'

/** How many of the newest events are read, of people and of the service alike. */
export const EVENTS_READ = 10_000
/** Deeper paths can be used, and are not listed. */
const KEYS_IN_PATH_MAX = 4
const TOP_VALUES = 5
const VALUE_LENGTH_MAX = 100

export type ValueKind = 'text' | 'number' | 'boolean' | 'time' | 'list'

/** A property in the data of events. */
export interface DataProperty {
  /** The keys that lead to it, through objects and through the items of lists. */
  path: string[]
  kinds: ValueKind[]
  valuesSeen: number
  lastSeenAt: Date
  /** The most frequent ones, most frequent first. */
  topValues: (string | number | boolean)[]
}

/** The kind of a value that is no object. */
const KIND = `multiIf(startsWith(value.2, '['), 'list', value.2 IN ('true', 'false'), 'boolean',
  NOT startsWith(value.2, '"'), 'number',
  match(value.2, '^"[0-9]{4}-[0-9]{2}-[0-9]{2}("|[T ][0-9]{2}:[0-9]{2})'), 'time', 'text')`

/**
 * The properties in the data of a tenant's newest events, most frequent first, and how many there are.
 * @param event Only of events with this name.
 */
export async function findDataProperties(
  tenant: Tenant,
  { event, limit }: { event?: string | undefined; limit: number },
): Promise<{ properties: DataProperty[]; total: number }> {
  const newest = { columns: `timestamp, ${VALUES} AS values`, orderBy: 'timestamp DESC', limit: EVENTS_READ } as const
  const { where, parameters } = eventConditions(event === undefined ? {} : { event_type: event })
  const rows = await tenant.events.select<{
    path: string[]
    kinds: ValueKind[]
    seen: number
    last_ms: number
    top: string[]
    total: number
  }>({
    name: 'events.data_properties',
    lane: 'heavy',
    ...newest,
    where,
    parameters,
    // Apart, because the table is sorted by it: the newest of both would be found by sorting all.
    ...(event === undefined ? { also: { columns: newest.columns, where: ['is_system = 1'] } } : {}),
    outer: {
      columns: `(arrayJoin(values) AS value).1 AS path, arraySort(groupUniqArray(${KIND})) AS kinds, count() AS seen,
        toUnixTimestamp64Milli(max(timestamp)) AS last_ms,
        topKIf(${TOP_VALUES})(value.2, length(value.2) <= ${VALUE_LENGTH_MAX} AND NOT startsWith(value.2, '[')) AS top,
        count() OVER () AS total`,
      groupBy: 'path',
      orderBy: 'seen DESC, path',
      limit,
    },
  })
  return {
    properties: rows.map(({ path, kinds, seen, last_ms, top }) => ({
      path,
      kinds,
      valuesSeen: Number(seen),
      lastSeenAt: new Date(Number(last_ms)),
      topValues: top.map((json) => JSON.parse(json) as string | number | boolean),
    })),
    total: Number(rows[0]?.total ?? 0),
  }
}

/** Each value in `data`, as its path and its JSON text. Of an object, what it has are values. */
const VALUES = `arrayFilter(value -> value.2 != 'null' AND NOT startsWith(value.2, '{'), ${valuesWithin(
  'arrayMap(pair -> ([pair.1], pair.2), JSONExtractKeysAndValuesRaw(data))',
  KEYS_IN_PATH_MAX,
)})`

/** Some values, and those in the objects among them. */
function valuesWithin(values: string, depth: number): string {
  if (depth === 1) return values
  const objects = `arrayFilter(object -> startsWith(object, '{'),
    if(startsWith(value.2, '['), JSONExtractArrayRaw(value.2), [value.2]))`
  const inObjects = `arrayMap(object -> arrayMap(pair -> (arrayPushBack(value.1, pair.1), pair.2),
    JSONExtractKeysAndValuesRaw(object)), ${objects})`
  const holders = `arrayFilter(value -> startsWith(value.2, '{') OR startsWith(value.2, '[{'), ${values})`
  const further = `arrayFlatten(arrayMap(value -> ${inObjects}, ${holders}))`
  return `arrayConcat(${values}, ${valuesWithin(further, depth - 1)})`
}
