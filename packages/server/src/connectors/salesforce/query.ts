import { type Client, isObject, objectsOf, textOf } from '../client.ts'
import type { FieldTypes } from './fields.ts'

/** Summer ’24 and later have it. */
const VERSION = 'v62.0'
export const DATA = `/services/data/${VERSION}`
/** The answer to a page must not be too long, and a task may have a description of 32,000 characters. */
const BATCH_SIZE = 500

/** A record without its attributes; a field of a parent is under `Owner.Name`. */
export type SalesforceRecord = Record<string, string | number | boolean | null>

interface QueryPage {
  records: SalesforceRecord[]
  /** How many records there are in all. */
  total: number
  /** The path of the next page; null if this is the last one. */
  next: string | null
}

/**
 * A page of a SOQL query.
 * @param from the query, and whether it finds deleted and archived records too; or the path of a next page.
 */
export async function query(
  client: Client,
  from: { soql: string; isAll: boolean } | string,
  types: FieldTypes,
): Promise<QueryPage> {
  const isFirst = typeof from !== 'string'
  const answer = await client.call({
    headers: { 'sforce-query-options': `batchSize=${BATCH_SIZE}` },
    ...(isFirst ? { path: `${DATA}/${from.isAll ? 'queryAll' : 'query'}`, query: { q: from.soql } } : { path: from }),
  })
  return {
    records: objectsOf(answer.records).map((record) => typed(flat(record), types)),
    total: typeof answer.totalSize === 'number' ? answer.totalSize : 0,
    next: answer.done === false ? textOf(answer.nextRecordsUrl) : null,
  }
}

/** Values as JSON has them: CSV has only texts, and times are written in several ways. */
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

/** A time in SOQL. */
export function soqlTime(time: Date): string {
  return time.toISOString()
}
