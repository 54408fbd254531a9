import type { TSchema } from 'typebox'
import Type from 'typebox'
import type { ErrorDetail, ServiceError } from '../errors.ts'
import { compileBodyCheck } from './body-validation.ts'

const RECORDS_MAX = 100

/** A list of records in a body, each of which fails alone: `recordCheck` looks into them, the body's schema does not. */
export function recordList(record: TSchema) {
  return Type.Array(Type.Unknown({ 'x-record': record }), { minItems: 1, maxItems: RECORDS_MAX })
}

/** Makes a function that tells what is wrong with one record by its schema. It is compiled when it is first needed. */
export function recordCheck(record: TSchema): (value: unknown) => ErrorDetail[] {
  let check: ReturnType<typeof compileBodyCheck> | undefined
  return (value) => {
    check ??= compileBodyCheck(record)
    return check(value).map(({ path, message }) => ({ path: path || 'the record', message }))
  }
}

/** The result of a record that failed. */
export type Failure = { status: 'failed'; error: { code: string; message: string } }

export function failure({ code, message }: ServiceError): Failure {
  return { status: 'failed', error: { code, message } }
}

/** A key of a record as it was sent, for its result; null where it is no text. */
export function keyOf(record: unknown, name: string): string | null {
  const value = (record as Record<string, unknown> | null)?.[name]
  return typeof value === 'string' ? value : null
}

/** A body's schema as the API's description shows it: with the schemas of its records. */
export function withRecordSchemas(schema: unknown): unknown {
  if (schema === null || typeof schema !== 'object') return schema
  if ('x-record' in schema) return schema['x-record']
  if (Array.isArray(schema)) return schema.map(withRecordSchemas)
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, withRecordSchemas(part)]))
}
