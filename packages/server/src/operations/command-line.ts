import Type from 'typebox'
import { ServiceError } from '../platform/errors.ts'
import { asBodyFields, parseBounds } from '../platform/http/body-bounds.ts'
import { compileBodyCheck } from '../platform/http/body-validation.ts'
import { parseJsonBody } from '../platform/http/json-body.ts'
import type { Operation, Values } from './declare.ts'

interface JsonSchema {
  type?: string
  enum?: string[]
  items?: JsonSchema
  'x-bound'?: string
}

/** The options for an operation's input: its names in kebab case; a list is one option per item. */
export function optionsOf(operation: Operation) {
  const options = Object.entries(operation.input).map(([name, schema]) => {
    const { items } = schema as JsonSchema
    const hint = operation.options?.[name]?.hint ?? hintOf(name, items ?? schema)
    const option = { type: 'string', required: !Type.IsOptional(schema), multiple: items !== undefined, hint } as const
    return [optionOf(operation, name), option] as const
  })
  return Object.fromEntries(options)
}

/** Parses the options of a call. @throws ServiceError 400 that names the option and the error. */
export function readOptions(operation: Operation, given: Values): Values {
  const values: Values = {}
  for (const [name, schema] of Object.entries(operation.input)) {
    const option = optionOf(operation, name)
    const value = given[option]
    if (value === undefined) continue
    const { items } = schema as JsonSchema
    const read = operation.options?.[name]?.read ?? ((text: string) => readText(option, items ?? schema, text))
    values[name] = Array.isArray(value) ? value.map((each) => read(String(each))) : read(String(value))
  }
  const details = compileBodyCheck(Type.Object(asBodyFields(operation.input)))(values)
  const parsed = parseBounds(operation.input, values, '')
  const [problem] = [...details, ...parsed.details]
  if (problem === undefined) return parsed.values
  const place = problem.path.replace(/^\w+/, (name) => `--${optionOf(operation, name)}`)
  throw new ServiceError(400, 'invalid_option', `${place} ${problem.message}.`)
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

function optionOf({ options }: Operation, name: string): string {
  return options?.[name]?.name ?? name.replaceAll('_', '-')
}

function hintOf(name: string, { type, enum: words, 'x-bound': bound }: JsonSchema): string {
  if (words) return words.join('|')
  if (bound) return 'TIMESTAMP'
  if (type === 'string') return name.toUpperCase()
  return type === 'integer' ? 'NUMBER' : 'JSON'
}

function readText(option: string, { type }: JsonSchema, text: string): unknown {
  if (type === 'string') return text
  if (type !== 'integer') return readJson(option, text)
  // Anything else stays a text, which the schema rejects with a suitable message.
  return /^\d{1,15}$/.test(text) ? Number(text) : text
}
