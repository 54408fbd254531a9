import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import Type, { type TProperties } from 'typebox'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { validationError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { asBodyFields, parseBounds } from '../platform/http/body-bounds.ts'
import { identityOf } from '../platform/http/body-parts.ts'
import { errorResponses, success } from '../platform/http/responses.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Clock } from '../platform/time.ts'
import { type Context, type Declaration, isReading, type Operation, routeOf, type Values } from './declare.ts'
import { errorsOf } from './errors.ts'
import { ifMatch, refuseIfMatch } from './etag.ts'
import { describeFurtherScopes, scopesAlways, scopesOfSent } from './further-scopes.ts'
import { idempotencyKeyOf, performOnce } from './idempotency.ts'
import { type Memory, perform } from './perform.ts'
import type { Scope } from './scopes.ts'
import { requireScopeOf } from './scopes.ts'

type Dependencies<Services> = Services & {
  clock: Clock
  secrets: SecretBox
  invalidation: Pick<Invalidation, 'caughtUp'>
  isClosing(): boolean
}

/** Adds a route for each operation. */
export function mountOperations<Services extends object>(
  app: App,
  operations: readonly Operation<Services>[],
  dependencies: Dependencies<Services>,
): void {
  for (const operation of operations) mount(app, operation, dependencies)
}

function mount<Services extends object>(
  app: App,
  operation: Operation<Services>,
  dependencies: Dependencies<Services>,
): void {
  const { name, tag, scope, summary, description, output, status = 200, bodyBytesMax, example, whileClosed } = operation
  const { method, url, hasBody } = routeOf(operation)
  const { path, sent } = partsOf(url, operation.input)
  const schema: FastifySchema = {
    operationId: name,
    tags: [tag],
    summary,
    description,
    params: Type.Object(path),
    ...headersOf(method, operation),
    ...(hasBody ? { body: bodyOf(operation, sent) } : { querystring: Type.Object(withExamples(sent, example)) }),
    response: {
      [status]: { ...success(output), ...responseHeadersOf(method, operation) },
      ...errorResponses(errorsOf(operation)),
    },
  }
  app.route({
    method,
    url,
    config: { access: scope, whileClosed, furtherScopes: describeFurtherScopes(operation) },
    ...(bodyBytesMax === undefined ? {} : { bodyLimit: bodyBytesMax }),
    schema,
    ...scopeHooks(operation, hasBody),
    handler: async (request, reply) => {
      if (!operation.ifMatch) refuseIfMatch(request.headers['if-match'])
      const sentKey = method === 'POST' ? idempotencyKeyOf(request.headers['idempotency-key']) : undefined
      // What changes nothing can be repeated as it is: keeping its response would only fill the disk.
      const key = isReading(operation) ? undefined : sentKey
      const given = hasBody ? withDates(sent, request.body as Values) : (request.query as Values)
      const input = { ...given, ...(request.params as Values) }
      const context = { ...dependencies, ...contextOf(request, dependencies), now: dependencies.clock() }
      const work = (memory?: Memory) => perform(operation, context, input, memory)
      const result = key === undefined ? await work() : await once(request, reply, key, context, work)
      // Audited operations change keys, domains and settings, which every process caches: the next request sees the change.
      if (operation.audit !== undefined) await dependencies.invalidation.caughtUp()
      if (operation.etag) reply.header('etag', `"${await operation.etag(result, context)}"`)
      return reply.code(status).send({ status: 'success', ...result })
    },
  })
}

/** Headers of a request that may be repeated, and of its response. */
export const IdempotencyKey = Type.String({
  description:
    'A retry with the same key and body within 24 hours gets the response to the first request and changes nothing. Use a new key, such as a UUID, for each request.',
  examples: ['0b6f1c52-8c3e-4c11-9d5b-4a4a6e0b8f7d'],
})
const UnneededKey = Type.String({
  description: 'Accepted, but not needed: this request changes nothing, so its response is not kept for a retry.',
})
const IfMatch = Type.String({
  description: 'The `ETag` that you read. If the record has changed since, the response is 412 `changed_meanwhile`.',
})

/** The headers that openapi.json documents. */
function headersOf(method: string, operation: Pick<Operation, 'ifMatch' | 'http' | 'reads'>) {
  const key = isReading(operation) ? UnneededKey : IdempotencyKey
  const { ifMatch: matches } = operation
  const headers = {
    ...(method === 'POST' ? { 'Idempotency-Key': Type.Optional(key) } : {}),
    ...(matches ? { 'If-Match': Type.Optional(IfMatch) } : {}),
  }
  return Object.keys(headers).length === 0 ? {} : { headers: Type.Object(headers) }
}

const ETag = Type.String({ description: 'The version of the record, for `If-Match`.' })
export const IdempotentReplayed = Type.Literal('true', {
  description: 'Sent if the response repeats that of an earlier request with the same `Idempotency-Key`.',
})

/** The headers of a success that openapi.json documents. */
function responseHeadersOf(method: string, operation: Pick<Operation<never>, 'etag' | 'http' | 'reads'>) {
  const { etag } = operation
  const headers = {
    ...(etag ? { ETag } : {}),
    ...(method === 'POST' && !isReading(operation) ? { 'Idempotent-Replayed': IdempotentReplayed } : {}),
  }
  return Object.keys(headers).length === 0 ? {} : { headers }
}

function contextOf(request: FastifyRequest, { isClosing }: { isClosing(): boolean }): Omit<Context, 'now' | 'memory'> {
  const { tenant, actor, scopes, warnings, headers } = request
  const requireScope = (...scopes: readonly Scope[]) => requireScopeOf(request, ...scopes)
  const warn = (text: string) => void warnings.push(text)
  const isGivenUp = () => isClosing() || request.raw.socket.destroyed
  return { tenant, actor, scopes, requireScope, warn, requireMatch: ifMatch(headers['if-match']), isGivenUp }
}

/** Hooks that check further scopes: those that every request needs, and those that follow from its query or body. */
function scopeHooks(operation: Operation<never>, hasBody: boolean) {
  const always = scopesAlways(operation)
  return {
    onRequest: async (request: FastifyRequest) => requireScopeOf(request, ...always),
    preValidation: async (request: FastifyRequest) =>
      requireScopeOf(request, ...scopesOfSent(operation, hasBody ? request.body : request.query)),
  }
}

/** Performs a request with an Idempotency-Key, or repeats its earlier response. */
async function once(
  { method, url, body }: FastifyRequest,
  reply: FastifyReply,
  key: string,
  context: Omit<Context, 'memory'> & { secrets: SecretBox },
  work: (memory: Memory) => Promise<Values>,
): Promise<Values> {
  const sent = `${method} ${url}\n${identityOf(body)}`
  const { output, warnings, isRepeated } = await performOnce(context, { key, sent }, work)
  if (isRepeated) reply.header('idempotent-replayed', 'true')
  for (const warning of warnings) context.warn(warning)
  return output
}

/** The path parameters, and the rest of the input: the query parameters or the body. */
function partsOf(url: string, input: TProperties): { path: TProperties; sent: TProperties } {
  const inPath = new Set(url.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : [])))
  const fields = Object.entries(input)
  return {
    path: Object.fromEntries(fields.filter(([name]) => inPath.has(name))),
    sent: Object.fromEntries(fields.filter(([name]) => !inPath.has(name))),
  }
}

/** The schema of a body. What has no fields needs none, nor does a POST whose fields are all optional, unless declared otherwise. */
function bodyOf(operation: Declaration, sent: TProperties) {
  const examples = operation.example ? { examples: [operation.example] } : {}
  if (operation.body) return Type.Object({}, { 'x-record': { ...operation.body, ...examples } })
  const hasNoFields = Object.keys(sent).length === 0
  const mayBeAbsent = hasNoFields || (routeOf(operation).method === 'POST' && !operation.needsBody)
  const isOptional = mayBeAbsent && Object.values(sent).every(Type.IsOptional)
  return Type.Object(asBodyFields(sent), {
    additionalProperties: false,
    ...examples,
    ...(isOptional ? { 'x-optional': true } : {}),
  })
}

/** Query parameters with the values of an example. */
function withExamples(sent: TProperties, example: Values = {}): TProperties {
  const fields = Object.entries(sent).map(([name, schema]) => {
    if (!(name in example)) return [name, schema]
    const shown = { ...schema, examples: [example[name]] }
    return [name, Type.IsOptional(schema) ? Type.Optional(shown) : shown]
  })
  return Object.fromEntries(fields)
}

/** The body with a Date for each timestamp. @throws ServiceError 400 */
function withDates(sent: TProperties, body: Values): Values {
  const { values, details } = parseBounds(sent, body, '')
  if (details.length > 0) throw validationError(details)
  return values
}
