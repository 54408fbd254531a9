/**
 * Generates src/generated from openapi.json: the types by @hey-api/openapi-ts, and a class with a method for each
 * operation. `npm run generate` writes them; a test compares them.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'

interface Schema {
  type?: string
  $ref?: string
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
  items?: Schema
  anyOf?: Schema[]
  allOf?: Schema[]
}

type Content = Record<string, { schema: Schema } | undefined>

interface Described {
  operationId: string
  summary: string
  description?: string
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema: Schema }[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, { content?: Content }>
}

interface Document {
  info: object
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

interface Method {
  name: string
  /** Such as `GET /v1/contacts/{contact_id}`. */
  http: string
  comment: string
  /** The path's parameters, then the query's or the body's, as one object. */
  input: Schema | null
  isInputRequired: boolean
  /** The name of the schema of its response; null if that is a file or a stream. */
  response: string | null
  /** The field of the response that has the records of a page, and how callers ask for the next one. */
  list: { field: string; by: 'page' | 'offset' } | null
  /** Whether the body is text instead of JSON. */
  isText: boolean
}

/** What browsers call, and the browser's script instead of a client. */
const LEFT_OUT = ['track', 'recoverVisitor', 'submitForm', 'trackerScript']

/** Writes types.gen.ts and operations.ts into a folder. It takes a few seconds. */
export async function generateClient(folder: string, openapiFile = 'openapi.json'): Promise<void> {
  const document: Document = JSON.parse(readFileSync(openapiFile, 'utf8'))
  const methods = methodsOf(document)
  await createClient({
    input: typesOnly(document, methods) as Record<string, unknown>,
    output: {
      path: folder,
      clean: true,
      entryFile: false,
      source: { enabled: false },
      header: '// Generated from openapi.json by `npm run generate`.',
      postProcess: [],
    },
    plugins: ['@hey-api/typescript'],
    logs: { level: 'silent', file: false },
  })
  const types = join(folder, 'types.gen.ts')
  // It describes a client that is not generated.
  writeFileSync(types, readFileSync(types, 'utf8').replace(/^export type ClientOptions = \{\n.*\n\};\n\n/m, ''))
  writeFileSync(join(folder, 'operations.ts'), renderOperations(methods))
}

/** The method and path of each operation by its name, as code for the dashboard, which imports only types of the client. */
export function pathsOfOperations(openapiFile = 'openapi.json'): string {
  const methods = methodsOf(JSON.parse(readFileSync(openapiFile, 'utf8')) as Document)
  return `// Generated from openapi.json by \`npm run generate\`.

/** The method and path of each operation, by its name. */
export const PATHS = {
${methods.map(({ name, http }) => `  ${name}: '${http}',`).join('\n')}
} as const
`
}

/** A document of schemas alone, with each operation's input under a name. */
function typesOnly({ info, components }: Document, methods: Method[]): object {
  // Callers catch one class of errors; a type `Error` would hide the language's own. Inputs have the fields of requests.
  const known = Object.entries(components.schemas).filter(([name]) => name !== 'Error' && !name.endsWith('Request'))
  const inputs = methods.flatMap(({ name, input }) => (input ? [[inputName(name), input]] : []))
  const schemas = withNestedFilters({ ...Object.fromEntries(known), ...Object.fromEntries(inputs) })
  return { openapi: '3.1.0', info, paths: {}, components: { schemas } }
}

/** The service checks nested filters itself, so their schema allows any conditions; a caller's are those of a filter. */
function withNestedFilters(schemas: Record<string, Schema>): Record<string, Schema> {
  const filter = schemas.SegmentFilter
  const conditions = filter?.properties?.conditions
  const others = conditions?.items?.anyOf?.filter(({ properties }) => !properties?.match)
  const items = { anyOf: [...(others ?? []), { $ref: '#/components/schemas/SegmentFilter' }] }
  const nested = { ...filter, properties: { ...filter?.properties, conditions: { ...conditions, items } } }
  return { ...schemas, SegmentFilter: nested }
}

function methodsOf({ paths, components }: Document): Method[] {
  return Object.entries(paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { operationId }]) => !LEFT_OUT.includes(operationId))
        .map(([method, described]) => methodOf(`${method.toUpperCase()} ${path}`, described, components.schemas)),
    )
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

function methodOf(http: string, described: Described, schemas: Record<string, Schema>): Method {
  const { operationId: name, summary, description, parameters = [], requestBody, responses } = described
  const [mediaType, body] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const isText = mediaType !== undefined && mediaType !== 'application/json'
  const given = parameters.filter((each) => each.in === 'path' || each.in === 'query')
  if (body && !isText && given.some((each) => each.in === 'query')) {
    throw new Error(`${name} has parameters in the query and in a JSON body; a client could not tell them apart.`)
  }
  const fields = isText ? [['body', { ...body?.schema, description: 'The text to send.' }] as const] : []
  const direct: Schema = {
    type: 'object',
    properties: Object.fromEntries([
      ...given.map((each) => [each.name, { ...each.schema, description: each.description ?? '' }]),
      ...fields,
    ]),
    required: [...given.filter((each) => each.required).map((each) => each.name), ...fields.map(([field]) => field)],
  }
  const jsonBody = isText || !body ? undefined : resolved(body.schema, schemas)
  const content = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content
  const schema = content?.['application/json']?.schema
  if (!content || (schema && !schema.$ref)) throw new Error(`${name} documents no response.`)
  return {
    name,
    http,
    comment: [summary, description].filter(Boolean).join('.\n\n'),
    input: inputOf(direct, jsonBody),
    isInputRequired: direct.required?.length !== 0 || isRequired(jsonBody),
    response: schema?.$ref ? nameOf(schema.$ref) : null,
    list: listOf(
      resolved(schema ?? {}, schemas),
      given.map((each) => each.name),
    ),
    isText,
  }
}

/** One object of the path's and query's parameters and the body's fields. */
function inputOf(direct: Schema, body: Schema | undefined): Schema | null {
  const hasFields = Object.keys(direct.properties ?? {}).length > 0
  if (!body) return hasFields ? direct : null
  if (!body.properties) return hasFields ? { allOf: [direct, body] } : body
  return {
    type: 'object',
    properties: { ...direct.properties, ...body.properties },
    required: [...(direct.required ?? []), ...(body.required ?? [])],
  }
}

/** A body that is one of several schemas always has required fields. */
function isRequired(body: Schema | undefined): boolean {
  return body !== undefined && (body.properties === undefined || (body.required ?? []).length > 0)
}

const nameOf = (reference: string) => reference.split('/').at(-1) ?? ''

function resolved(schema: Schema, schemas: Record<string, Schema>): Schema {
  return schema.$ref ? (schemas[nameOf(schema.$ref)] ?? {}) : schema
}

function listOf({ properties = {} }: Schema, names: string[]): Method['list'] {
  const by = names.includes('page') && properties.pagination ? 'page' : names.includes('offset') ? 'offset' : null
  const fields = Object.keys(properties).filter((field) => field !== 'warnings' && isList(properties[field]))
  const [field] = fields
  return by === null || field === undefined || fields.length > 1 ? null : { field, by }
}

function isList(schema: Schema | undefined): boolean {
  return schema?.type === 'array' || (schema?.anyOf?.every(isList) ?? false)
}

const inputName = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`

function renderOperations(methods: Method[]): string {
  const types = methods.flatMap(({ name, input, response }) => [
    ...(input ? [inputName(name)] : []),
    ...(response ? [response] : []),
  ])
  return `// Generated from openapi.json by \`npm run generate\`.

import { Caller, type List, type RequestOptions } from '../call.ts'
import type {
${[...new Set(types)]
  .sort()
  .map((type) => `  ${type},`)
  .join('\n')}
} from './types.gen.ts'

/** The input and the response of each operation, by its name. */
export interface OperationTypes {
${methods.map(renderTypes).join('\n')}
}

/** A method for each operation of the API, under its name in the API reference. */
export class Operations extends Caller {
${methods.map(renderMethod).join('\n\n')}
}
`
}

function renderTypes({ name, input, response }: Method): string {
  const inputType = input ? inputName(name) : 'Record<string, never>'
  return `  ${name}: { input: ${inputType}; response: ${response ?? 'Response'} }`
}

function renderMethod({ name, http, comment, input, isInputRequired, response, list, isText }: Method): string {
  const parameters = input ? [`input: ${inputName(name)}${isInputRequired ? '' : ' = {}'}`] : []
  const given = input ? 'input' : '{}'
  const call = `'${http}', ${given}, options`
  const listed = list && `List<${response}, NonNullable<${response}['${list.field}']>[number]>`
  return [
    '  /**',
    ...comment
      .replaceAll('*/', '*\\/')
      .split('\n')
      .map((line) => `   * ${line}`.trimEnd()),
    '   */',
    `  ${name}(${[...parameters, 'options?: RequestOptions'].join(', ')}): ${listed ?? `Promise<${response ?? 'Response'}>`} {`,
    list
      ? `    return this.list(${call}, '${list.field}', '${list.by}')`
      : `    return this.call(${call}${response === null ? ", 'file'" : isText ? ", 'text'" : ''})`,
    '  }',
  ].join('\n')
}
