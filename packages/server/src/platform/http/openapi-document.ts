import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'

/** A group of operations, under one heading. */
export interface Tag {
  name: string
  description: string
}

/** openapi.json, as far as it is read here. */
interface Document {
  tags?: readonly Tag[]
  paths: Record<string, Record<string, Described>>
  components: Record<string, Record<string, object>>
}

interface Described {
  operationId: string
  tags: string[]
  requestBody?: { required?: boolean; content: Record<string, Media> }
  responses: Record<string, Response>
}

interface Media {
  schema: Schema
  example?: unknown
  examples?: object
}

interface Response {
  description: string
  headers?: Record<string, object>
  content?: Record<string, Media>
}

interface Schema {
  title?: string
  properties?: Record<string, { title?: string; examples?: unknown[] }>
  'x-optional'?: boolean
}

const JSON_TYPE = 'application/json'

/** The headers that follow from the response, and not from an operation. */
const HEADERS = {
  'X-Request-Id': header("Identifies the request in the service's log."),
  'RateLimit-Limit': header('Requests allowed per minute.', 'integer'),
  'RateLimit-Remaining': header('Requests left.', 'integer'),
  'RateLimit-Reset': header('Seconds until the current window ends.', 'integer'),
  'RateLimit-Policy': header('The limit and its period in seconds, such as `600;w=60`.'),
  'Retry-After': header('Seconds to wait before you retry. Sent if a retry may succeed.', 'integer'),
  'WWW-Authenticate': header('How to send an API key.'),
}

const RATE_LIMITS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy']
const HEADERS_OF_ERRORS: Record<string, string[]> = {
  401: ['WWW-Authenticate'],
  409: ['Retry-After'],
  429: ['Retry-After', ...RATE_LIMITS],
  503: ['Retry-After'],
}

function header(description: string, type = 'string') {
  return { description, schema: { type } }
}

/**
 * Adds examples and headers to openapi.json, and moves what operations share to its components, with a name for each body
 * and response: code generators would invent others.
 * @param exampleOf the recorded response of an operation, such as `receiveHook`, or `receiveHook.202` for its second
 * status; or an error by its component
 * @throws Error if an operation has an unknown tag, or two schemas have the same name.
 */
export function completeDocument(
  given: Document,
  tags: readonly Tag[],
  exampleOf: (name: string) => unknown,
): Document {
  const headers: Record<string, object> = { ...HEADERS }
  const responses: Record<string, Response> = {}
  for (const operation of Object.values(given.paths).flatMap((methods) => Object.values(methods))) {
    const unknown = operation.tags.find((tag) => !tags.some(({ name }) => name === tag))
    if (unknown !== undefined) throw new Error(`The tag '${unknown}' of ${operation.operationId} is not declared.`)
    completeBody(operation)
    completeSuccesses(operation, headers, exampleOf)
    shareErrors(operation, responses, exampleOf)
  }
  const { parts, schemas } = nameSchemas({ paths: given.paths, responses })
  const components = { ...given.components, schemas, responses: sorted(parts.responses), headers: sorted(headers) }
  return { ...given, tags, components, paths: parts.paths }
}

function completeBody(operation: Described): void {
  const { requestBody, operationId } = operation
  const media = requestBody?.content[JSON_TYPE]
  if (requestBody === undefined || media === undefined) return
  const { schema } = media
  const { properties } = schema
  if (schema['x-optional']) {
    // `required` is the default for every body.
    requestBody.required = false
    // An operation without fields also accepts an empty object, which nobody needs to send.
    if (properties && Object.keys(properties).length === 0) delete operation.requestBody
  }
  const examples = Object.entries(properties ?? {}).flatMap(([name, field]) =>
    field.examples?.[0] === undefined ? [] : [[name, field.examples[0]]],
  )
  if (media.examples === undefined && examples.length > 0) media.example ??= Object.fromEntries(examples)
  schema.title ??= `${capitalized(operationId)}Request`
}

function completeSuccesses(
  { operationId, responses }: Described,
  headers: object,
  exampleOf: (name: string) => unknown,
): void {
  const added = ['X-Request-Id', ...('429' in responses ? RATE_LIMITS : [])]
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  for (const [index, [status, response]] of successes.entries()) {
    // Each operation describes the same header in the same words.
    Object.assign(headers, response.headers)
    response.headers = references('headers', [...Object.keys(response.headers ?? {}), ...added])
    const media = response.content?.[JSON_TYPE]
    if (media === undefined) continue
    // Of two statuses, the first is the usual one.
    const example = exampleOf(index === 0 ? operationId : `${operationId}.${status}`)
    if (example !== undefined) media.example = example
    const { schema } = media
    const isPage = schema.properties?.pagination !== undefined && operationId.startsWith('list')
    schema.title ??= isPage ? `${operationId.slice('list'.length)}Page` : resultOf(operationId, schema)
  }
}

/** A response of one named object is named after it, because several operations have it: `ContactResult`. */
function resultOf(operationId: string, { properties = {} }: Schema): string {
  const [only = {}, ...others] = Object.entries(properties).flatMap(([name, field]) =>
    name === 'status' || name === 'warnings' ? [] : [field],
  )
  return `${only.title !== undefined && others.length === 0 ? only.title : capitalized(operationId)}Result`
}

/**
 * Replaces each error with a reference to the response that all errors of its status share, with the operation's codes.
 */
function shareErrors(
  { responses }: Described,
  shared: Record<string, Response>,
  exampleOf: (name: string) => unknown,
): void {
  for (const [status, response] of Object.entries(responses)) {
    if (status.startsWith('2')) continue
    const title = status === 'default' ? 'Error' : (STATUS_CODES[status] ?? status)
    const name = title.replaceAll(/\W/g, '')
    const added = ['X-Request-Id', ...(HEADERS_OF_ERRORS[status] ?? [])]
    const { description, content } = response
    if (shared[name] === undefined) {
      const media = content?.[JSON_TYPE]
      const example = exampleOf(name)
      if (media !== undefined && example !== undefined) media.example = example
      const ofAll = status === 'default' ? description : `${title}.`
      shared[name] = { description: ofAll, headers: references('headers', added), ...(content ? { content } : {}) }
    }
    responses[status] = { $ref: `#/components/responses/${name}`, description } as Response
  }
}

function references(kind: string, names: string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/${kind}/${name}` }]))
}

/** The keywords whose values are not schemas. */
const VALUES = ['const', 'default', 'enum', 'example', 'examples']
const NAME = /^[A-Z][A-Za-z]+$/

/** Replaces each schema that has a `title` with a reference to that component. */
function nameSchemas<Parts extends object>(given: Parts): { parts: Parts; schemas: Record<string, object> } {
  const schemas: Record<string, object> = {}
  const named = (value: unknown): unknown => {
    if (value === null || typeof value !== 'object') return value
    if (Array.isArray(value)) return value.map(named)
    const { title, ...schema } = Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, VALUES.includes(name) ? part : named(part)]),
    )
    // A field may have that name.
    if (typeof title !== 'string') return title === undefined ? schema : { ...schema, title }
    if (!NAME.test(title)) throw new Error(`The title '${title}' of a schema is not a name such as ContactEvent.`)
    const known = schemas[title]
    if (known !== undefined && !isDeepStrictEqual(known, schema)) {
      throw new Error(`Two schemas have the title ${title}; give one of them another name.`)
    }
    schemas[title] = schema
    return { $ref: `#/components/schemas/${title}` }
  }
  return { parts: named(given) as Parts, schemas: sorted(schemas) }
}

function sorted<Value>(entries: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
