import Type, { type TProperties, type TSchema } from 'typebox'
import { type ErrorDetail, ServiceError } from '../platform/errors.ts'
import { asBodyFields, parseBounds } from '../platform/http/body-bounds.ts'
import { parseJsonBody } from '../platform/http/body-parts.ts'
import { compileBodyCheck } from '../platform/http/body-validation.ts'
import { parseQuery } from '../platform/http/query-parameters.ts'
import { type Declaration, type OptionSettings, routeOf, type Values } from './declare.ts'

interface Parsed {
  values: Values
  details: ErrorDetail[]
}

interface JsonSchema {
  type?: string
  enum?: string[]
  format?: string
  items?: JsonSchema
  anyOf?: JsonSchema[]
  properties?: TProperties
  'x-bound'?: string
  description?: string
}

/** A field of the input that has an option. */
interface Field {
  /** Its name; in an object whose fields have options of their own, after the name of the object. */
  path: [string] | [string, string]
  option: string
  schema: TSchema & JsonSchema
  isRequired: boolean
  /** Whether the option has no value: it is given or not. */
  isFlag: boolean
  settings: OptionSettings
}

type Warn = (text: string) => void

/** The option of a command. */
interface Option {
  type: 'string' | 'boolean'
  required?: boolean
  multiple?: boolean
  hint?: string
  description?: string
}

/** The option that reads a list from a file. */
export const FILE_OPTION = 'file'

/** The options for an operation's input: its names in kebab case; a list is one option per item. */
export function optionsOf(operation: Declaration): Record<string, Option> {
  return Object.fromEntries(fieldsOf(operation).flatMap((field) => optionsOfField(field)))
}

function optionsOfField(field: Field): [string, Option][] {
  const { option, schema, isRequired, isFlag, settings } = field
  const description = schema.description === undefined ? {} : { description: schema.description }
  if (isFlag) return [[option, { type: 'boolean', ...description }]]
  if (isSecret(field)) return secretOptions(field)
  const sent = unlessNull(schema)
  const value = settings.hint ?? hintOf(option, sent.items ?? sent)
  const hint = canBeNone(schema) ? `${value}|${NONE}` : value
  const mayBeFile = settings.mayBeFile === true
  const required = isRequired && !mayBeFile
  const own = { type: 'string', required, multiple: sent.items !== undefined, hint, ...description } as const
  if (!mayBeFile) return [[option, own]]
  const instead = `A JSON file with the ${option}, instead of --${option}; - reads standard input.`
  return [
    [option, own],
    [FILE_OPTION, { type: 'string', hint: 'FILE', description: instead }],
  ]
}

function secretOptions({ option, schema }: Field): [string, Option][] {
  const part = isObject(schema) ? 'This JSON file' : 'The only line of this file'
  const place = `${part}; - reads standard input, or asks at a terminal.`
  const description = schema.description === undefined ? place : `${schema.description} ${place}`
  return [
    [`${option}-file`, { type: 'string', hint: 'FILE', description }],
    [`${option}-env`, { type: 'string', hint: 'VARIABLE', description: 'Or the environment variable that has it.' }],
  ]
}

/** The secrets, each of which has the options `--NAME-file` and `--NAME-env`. `isJson`: the file has several, as JSON. */
export function secretsOf(operation: Declaration): { name: string; isJson: boolean }[] {
  return fieldsOf(operation)
    .filter(isSecret)
    .map(({ option, schema }) => ({ name: option, isJson: isObject(schema) }))
}

/** The option of the list that may come from a file; undefined if there is none. */
export function listOfFile(operation: Declaration): string | undefined {
  return fieldsOf(operation).find(({ settings }) => settings.mayBeFile)?.option
}

/**
 * Parses the options of a call as the route parses its query or its body.
 * @param given the options, with secrets by their names, and with the contents of a file under `FILE_OPTION`.
 * @param warn gets what was changed in JSON, see parseJsonBody.
 * @throws ServiceError 400 that names the option
 */
export function readOptions(operation: Declaration, given: Values, warn: Warn): Values {
  const fields = fieldsOf(operation)
  const input = inputOf(operation)
  const parsed = routeOf(operation).hasBody
    ? readFields(input, fields, given, warn)
    : readParameters(input, fields, given)
  const [problem] = parsed.details
  if (problem === undefined) return parsed.values
  throw new ServiceError(400, 'invalid_option', `--${placeOf(fields, problem.path)} ${problem.message}.`)
}

function readParameters(input: TProperties, fields: Field[], given: Values): Parsed {
  const sent = fields.map(({ path: [name], option }) => [name, given[option]])
  const parsed = parseQuery(Type.Object(input), Object.fromEntries(sent))
  return 'details' in parsed ? { values: {}, details: parsed.details } : { values: parsed.value, details: [] }
}

function readFields(input: TProperties, fields: Field[], given: Values, warn: Warn): Parsed {
  const values: Values = {}
  for (const field of fields) {
    const value = readField(field, given, warn)
    if (value === undefined) continue
    const [name, inner] = field.path
    values[name] = inner === undefined ? value : { ...(values[name] as Values | undefined), [inner]: value }
  }
  const details = compileBodyCheck(Type.Object(asBodyFields(input)))(values)
  return details.length > 0 ? { values, details } : parseBounds(input, values, '')
}

function readField(field: Field, given: Values, warn: Warn): unknown {
  const { option, schema, isFlag, settings } = field
  const isFromFile = settings.mayBeFile === true && given[FILE_OPTION] !== undefined
  if (isFromFile) {
    const json = readJson(FILE_OPTION, String(given[FILE_OPTION]), ofFile(field), warn)
    return listIn(field, json)
  }
  const value = given[option]
  if (isFlag) return value === true ? true : undefined
  if (value === undefined) return undefined
  if (value === NONE && canBeNone(schema)) return null
  const sent = unlessNull(schema)
  if (sent.items && [value].flat().join() === NO_ITEM) return []
  const read = settings.read ?? ((text: string) => readText(option, sent.items ?? sent, text, warn))
  return Array.isArray(value) ? value.flatMap((each) => read(String(each))) : read(String(value))
}

/** The list in a file: a list, one item, or a request's body with nothing but the list. */
function listIn({ path: [name] }: Field, json: unknown): unknown[] {
  const isBody = typeof json === 'object' && json !== null && Object.keys(json).join() === name
  return [isBody ? (json as Values)[name] : json].flat()
}

/** The schema of a file that `listIn` reads: its items may fail one by one. */
function ofFile({ path: [name], schema }: Field): TSchema {
  return { items: schema.items, properties: { [name]: schema } }
}

/** @throws ServiceError 400 that names the option and the error. */
function readJson(option: string, text: string, schema: TSchema, warn: Warn): unknown {
  try {
    return parseJsonBody(text, schema, (warning) => warn(`--${option} ${warning}`))
  } catch (error) {
    const { message, cause } = error as Error
    const problem = cause instanceof SyntaxError ? `is not valid JSON: ${cause.message}` : `cannot be used: ${message}`
    throw new ServiceError(400, 'invalid_option', `--${option} ${problem}`, { cause: error })
  }
}

function inputOf({ input, operatorInput }: Declaration): TProperties {
  return { ...input, ...operatorInput }
}

function fieldsOf(operation: Declaration): Field[] {
  return Object.entries(inputOf(operation)).flatMap(([name, schema]): Field[] => {
    const settings = operation.options?.[name] ?? {}
    const option = settings.name ?? kebab(name)
    const isRequired = !Type.IsOptional(schema)
    const isFlag = operation.operatorInput !== undefined && name in operation.operatorInput
    if (!settings.isDivided) return [{ path: [name], option, schema, isRequired, isFlag, settings }]
    return Object.entries(unlessNull(schema).properties ?? {}).map(([inner, of]) => ({
      path: [name, inner],
      option: `${option}-${kebab(inner)}`,
      schema: of,
      isRequired: isRequired && !Type.IsOptional(of),
      isFlag: false,
      settings: {},
    }))
  })
}

function kebab(name: string): string {
  return name.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The option that sets what is at a path of the input, followed by the rest of the path. */
function placeOf(fields: Field[], path: string): string {
  const names = path.split(/(?=[.[])/)
  const isAt = ({ path: own }: Field) => own.every((name, index) => names[index]?.replace('.', '') === name)
  const field = fields.find(isAt)
  return field ? [field.option, ...names.slice(field.path.length)].join('') : path
}

function isSecret({ schema }: Field): boolean {
  return schema.format === 'password'
}

function isObject(schema: JsonSchema): boolean {
  return unlessNull(schema).type === 'object'
}

/** Means a list without items, if it is the only one. */
const NO_ITEM = ''

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

function readText(option: string, schema: JsonSchema, text: string, warn: Warn): unknown {
  const { type, enum: words } = schema
  if (type === 'string' || words) return text
  if (type !== 'integer' && type !== 'number') {
    // A list may be one option, too.
    const isList = text.trimStart().startsWith('[')
    return readJson(option, text, isList ? { items: schema } : (schema as TSchema), warn)
  }
  // Anything else stays a text, which the schema rejects with a suitable message.
  return /^\d{1,15}(\.\d{1,6})?$/.test(text) ? Number(text) : text
}
