import { isObject } from '../../platform/is-object.ts'
import { type Client, objectsOf, textOf } from '../client.ts'

/** Available since Summer ’24. */
const VERSION = 'v62.0'
export const DATA = `/services/data/${VERSION}`
/** Keeps responses small: the description of a task can have 32,000 characters. */
const BATCH_SIZE = 500

/** The type, such as `boolean`, of each field that the user may see. */
export type FieldTypes = ReadonlyMap<string, string>

/** A record without its attributes. Fields of parents have names such as `Owner.Name`. */
export type SalesforceRecord = Record<string, string | number | boolean | null>

interface QueryPage {
  records: SalesforceRecord[]
  /** The total number of records. */
  total: number
  /** The path of the next page; null on the last page. */
  next: string | null
}

/**
 * A page of a SOQL query.
 * @param from the query, and whether it includes deleted and archived records; or the path of a next page.
 */
export async function query(
  client: Client,
  from: { soql: string; isAll: boolean } | string,
  types: FieldTypes,
): Promise<QueryPage> {
  const isFirst = typeof from !== 'string'
  const response = await client.call({
    headers: { 'sforce-query-options': `batchSize=${BATCH_SIZE}` },
    ...(isFirst ? { path: `${DATA}/${from.isAll ? 'queryAll' : 'query'}`, query: { q: from.soql } } : { path: from }),
  })
  return {
    records: objectsOf(response.records).map((record) => typed(flat(record), types)),
    total: typeof response.totalSize === 'number' ? response.totalSize : 0,
    next: response.done === false ? textOf(response.nextRecordsUrl) : null,
  }
}

/** Converts a value to JSON. CSV contains only text, and times have several formats. */
export function typed(record: Readonly<Record<string, unknown>>, types: FieldTypes): SalesforceRecord {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, typedValue(value, types.get(name))]))
}

function typedValue(value: unknown, type = 'string'): SalesforceRecord[string] {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'string' || value === '') return null
  if (type === 'boolean') return value === 'true'
  if (['int', 'double', 'currency', 'percent', 'long'].includes(type)) {
    const number = Number(value)
    return Number.isFinite(number) ? number : null
  }
  if (type !== 'datetime') return value
  const time = new Date(value)
  return Number.isNaN(time.getTime()) ? value : time.toISOString()
}

function flat({ attributes: _, ...record }: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(record).flatMap(([name, value]) => {
    if (!isObject(value)) return [[name, value] as const]
    const { attributes: __, ...parent } = value
    return Object.entries(parent).map(([field, each]) => [`${name}.${field}`, each] as const)
  })
  return Object.fromEntries(entries)
}

/** A time as a SOQL literal. */
export function soqlTime(time: Date): string {
  return time.toISOString()
}
