import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { shown } from '../characters.ts'
import type { ErrorDetail } from '../errors.ts'
import { compileNullRemoval } from './absent-fields.ts'

/** A TypeBox error (with JSON Schema's names). */
interface SchemaError {
  keyword: string
  schemaPath: string
  instancePath: string
  params: object
  message: string
}

/** TypeBox's default is 8. A body with more errors than this gets the first ones. */
Settings.Set({ maxErrors: 100 })

type Check = (body: unknown) => ErrorDetail[]

/**
 * Compiles a body schema to a function that returns every error; an empty list means the body is valid. Optional fields
 * that are null are first removed from the body.
 */
export function compileBodyCheck(schema: TSchema): Check {
  const validator = Compile(schema)
  const removeNulls = compileNullRemoval(schema)
  return (body) => {
    removeNulls(body)
    if (validator.Check(body)) return []
    const details = describe(schema, validator.Errors(body))
    // A body that fails the check is never valid, even if TypeBox reports no errors.
    return details.length > 0
      ? details
      : [{ path: '', message: 'does not match the schema of this endpoint; see /docs/api' }]
  }
}

function describe(schema: TSchema, errors: SchemaError[]): ErrorDetail[] {
  const byPath = new Map<string, string>()
  for (const error of errors) {
    for (const { path, message } of detailsOf(schema, error)) {
      // A union reports each of its branches and then itself at the same path; one message per path is enough.
      const nestedInReported = [...byPath.keys()].some((known) => known !== '' && path.startsWith(`${known}.`))
      if (!byPath.has(path) && !nestedInReported) byPath.set(path, message)
    }
  }
  return [...byPath].map(([path, message]) => ({ path, message }))
}

function detailsOf(schema: TSchema, error: SchemaError): ErrorDetail[] {
  const path = toPath(error.instancePath)
  const params = error.params as { requiredProperties?: string[]; additionalProperties?: string[] }
  if (error.keyword === 'required') {
    return (params.requiredProperties ?? []).map((name) => ({ path: join(path, name), message: 'is required' }))
  }
  if (error.keyword === 'additionalProperties') {
    const message = unknownField(schema, error.instancePath)
    return (params.additionalProperties ?? []).map((name) => ({ path: join(path, shown(name)), message }))
  }
  // One error per unknown field, before the one that names them all.
  if (error.keyword === 'boolean') {
    const parent = error.instancePath.slice(0, error.instancePath.lastIndexOf('/'))
    return [{ path, message: unknownField(schema, parent) }]
  }
  return [{ path, message: expectation(schemaAt(schema, error.instancePath)) ?? error.message }]
}

function unknownField(schema: TSchema, parentPath: string): string {
  return schemaAt(schema, parentPath)?.['x-unknown'] ?? 'is not a known field; remove it'
}

/** What a schema requires, e.g. "must be a whole number from 1 to 20". */
function expectation(schema: JsonSchema | undefined): string | undefined {
  if (!schema) return undefined
  if (schema['x-expected']) return `must be ${schema['x-expected']}`
  if (schema.enum) return `must be one of ${schema.enum.join(', ')}`
  const range = rangeOf(schema.minimum, schema.maximum, '')
  if (schema.type === 'integer') return `must be a whole number${range}`
  if (schema.type === 'number') return `must be a number${range}`
  if (schema.type === 'boolean') return 'must be true or false'
  if (schema.type === 'string') return `must be a string${rangeOf(schema.minLength, schema.maxLength, ' characters')}`
  if (schema.type === 'array') return `must be a list${rangeOf(schema.minItems, schema.maxItems, ' items')}`
  if (schema.type === 'object') return 'must be an object'
  return undefined
}

interface JsonSchema {
  type?: string
  enum?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  'x-expected'?: string
  /** The message for a field that the schema does not have. */
  'x-unknown'?: string
}

function rangeOf(min: number | undefined, max: number | undefined, unit: string): string {
  if (min !== undefined && max !== undefined) return ` ${unit === '' ? 'from' : 'of'} ${min} to ${max}${unit}`
  if (min !== undefined) return ` of at least ${min}${unit}`
  return max === undefined ? '' : ` of at most ${max}${unit}`
}

function schemaAt(schema: TSchema, instancePath: string): JsonSchema | undefined {
  let current: JsonSchema | undefined = schema as JsonSchema
  for (const part of segments(instancePath)) {
    // The description of a union is on the union itself, so the walk ends there.
    if (!current || current['x-expected']) break
    current = current.properties?.[part] ?? current.items
  }
  return current
}

function segments(instancePath: string): string[] {
  const parts = instancePath.split('/').slice(1)
  return parts.map((part) => shown(part.replaceAll('~1', '/').replaceAll('~0', '~')))
}

function toPath(instancePath: string): string {
  return segments(instancePath).reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), '')
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
