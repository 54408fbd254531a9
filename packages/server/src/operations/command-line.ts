import Type from 'typebox'
import { type ErrorDetail, ServiceError } from '../platform/errors.ts'
import { asBodyFields, parseBounds } from '../platform/http/body-bounds.ts'
import { compileBodyCheck } from '../platform/http/body-validation.ts'
import { parseJsonBody } from '../platform/http/json-body.ts'
import { parseQuery } from '../platform/http/query-parameters.ts'
import { type Declaration, routeOf, type Values } from './declare.ts'

interface Parsed {
  values: Values
  details: ErrorDetail[]
}

interface JsonSchema {
  type?: string
  enum?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  'x-bound'?: string
  description?: string
}

/** The options for an operation's input: its names in kebab case; a list is one option per item. */
export function optionsOf(operation: Declaration) {
  const options = Object.entries(operation.input).map(([name, schema]) => {
    const sent = unlessNull(schema)
    const { items } = sent
    const value = operation.options?.[name]?.hint ?? hintOf(optionOf(operation, name), items ?? sent)
    const hint = canBeNone(schema) ? `${value}|${NONE}` : value
    const { description } = schema as JsonSchema
    const isRequired = !Type.IsOptional(schema)
    const option = {
      type: 'string',
      required: isRequired,
      multiple: items !== undefined,
      hint,
      ...(description === undefined ? {} : { description }),
    } as const
    return [optionOf(operation, name), option] as const
  })
  return Object.fromEntries(options)
}

/** Parses the options of a call as the route parses its query or its body. @throws ServiceError 400 that names the option */
export function readOptions(operation: Declaration, given: Values): Values {
  const values = routeOf(operation).hasBody ? readFields(operation, given) : readParameters(operation, given)
  const [problem] = values.details
  if (problem === undefined) return values.values
  const place = problem.path.replace(/^\w+/, (name) => `--${optionOf(operation, name)}`)
  throw new ServiceError(400, 'invalid_option', `${place} ${problem.message}.`)
}

function readParameters(operation: Declaration, given: Values): Parsed {
  const sent = Object.keys(operation.input).map((name) => [name, given[optionOf(operation, name)]])
  const parsed = parseQuery(Type.Object(operation.input), Object.fromEntries(sent))
  return 'details' in parsed ? { values: {}, details: parsed.details } : { values: parsed.value, details: [] }
}

function readFields(operation: Declaration, given: Values): Parsed {
  const values: Values = {}
  for (const [name, schema] of Object.entries(operation.input)) {
    const option = optionOf(operation, name)
    const value = given[option]
    if (value === undefined) continue
    const sent = unlessNull(schema)
    if (value === NONE && canBeNone(schema)) {
      values[name] = null
      continue
    }
    const read = operation.options?.[name]?.read ?? ((text: string) => readText(option, sent.items ?? sent, text))
    values[name] = Array.isArray(value) ? value.flatMap((each) => read(String(each))) : read(String(value))
  }
  const details = compileBodyCheck(Type.Object(asBodyFields(operation.input)))(values)
  return details.length > 0 ? { values, details } : parseBounds(operation.input, values, '')
}

/** @throws ServiceError 400 that names the option and the error. */
export function readJson(option: string, text: string): unknown {
  try {
    return parseJsonBody(text)
  } catch (error) {
    const { message, cause } = error as Error
    const problem = cause instanceof SyntaxError ? `is not valid JSON: ${cause.message}` : `cannot be used: ${message}`
    throw new ServiceError(400, 'invalid_option', `--${option} ${problem}`, { cause: error })
  }
}

function optionOf({ options }: Declaration, name: string): string {
  const kebab = (text: string) => text.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return options?.[name]?.name ?? kebab(name)
}

/** Means null for a field that is not a text. */
const NONE = 'none'

function canBeNone(schema: JsonSchema): boolean {
  return unlessNull(schema) !== schema && unlessNull(schema).type !== 'string'
}

/** The schema of a field's value other than null. */
function unlessNull(schema: JsonSchema): JsonSchema {
  return schema.anyOf?.find(({ type }) => type !== 'null') ?? schema
}

function hintOf(option: string, { type, enum: words, 'x-bound': bound }: JsonSchema): string {
  if (words) return words.join('|')
  if (bound) return 'TIMESTAMP'
  if (type === 'string') return option.replaceAll('-', '_').toUpperCase()
  if (type === 'boolean') return 'true|false'
  return type === 'integer' || type === 'number' ? 'NUMBER' : 'JSON'
}

function readText(option: string, { type, enum: words }: JsonSchema, text: string): unknown {
  if (type === 'string' || words) return text
  if (type !== 'integer' && type !== 'number') return readJson(option, text)
  // Anything else stays a text, which the schema rejects with a suitable message.
  return /^\d{1,15}(\.\d{1,6})?$/.test(text) ? Number(text) : text
}
