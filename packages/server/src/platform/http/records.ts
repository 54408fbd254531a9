import type { TSchema } from 'typebox'
import Type from 'typebox'
import type { ErrorDetail, ServiceError } from '../errors.ts'
import { PART_KEYWORDS } from './body-part-schemas.ts'
import { flawsOf } from './body-parts.ts'
import { compileBodyCheck } from './body-validation.ts'

const RECORDS_MAX = 100

/**
 * A list of records in a body, each of which fails alone: `recordCheck` validates them instead of the body's schema.
 */
export function recordList(record: TSchema, maxItems = RECORDS_MAX) {
  return Type.Array(Type.Unknown({ 'x-record': record, 'x-unstorable': 'fails' }), { minItems: 1, maxItems })
}

/** Creates a check of a record: by its schema, compiled on first use, and for values that cannot be stored. */
export function recordCheck(record: TSchema): (value: unknown) => ErrorDetail[] {
  let check: ReturnType<typeof compileBodyCheck> | undefined
  return (value) => {
    check ??= compileBodyCheck(record)
    const flaws = flawsOf(value)
    const problems = flaws.length > 0 ? flaws : check(value)
    return problems.map(({ path, message }) => ({ path: path || 'the record', message }))
  }
}

/** The result of a record that failed. */
export type Failure = { status: 'failed'; error: { code: string; message: string } }

export function failure({ code, message }: ServiceError): Failure {
  return { status: 'failed', error: { code, message } }
}

/** A record's key as sent, for its result; null if it is not a string. */
export function keyOf(record: unknown, name: string): string | null {
  const value = (record as Record<string, unknown> | null)?.[name]
  return typeof value === 'string' ? value : null
}

/** The schema of a body or a response for openapi.json: with the schemas of its records, without our own keywords. */
export function withRecordSchemas(schema: unknown): unknown {
  if (schema === null || typeof schema !== 'object') return schema
  if ('x-record' in schema) return withRecordSchemas(schema['x-record'])
  if (Array.isArray(schema)) return schema.map(withRecordSchemas)
  const documented = Object.entries(schema).filter(([name]) => !PART_KEYWORDS.has(name))
  return Object.fromEntries(documented.map(([name, part]) => [name, withRecordSchemas(part)]))
}
