import { METHODS } from 'node:http'
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchemaCompiler,
  HTTPMethods,
} from 'fastify'
import type { TSchema } from 'typebox'
import { shown } from '../characters.ts'
import { ServiceError, validationError } from '../errors.ts'
import { newId } from '../ids.ts'
import { asUnavailable } from '../postgres/unavailable.ts'
import { boundLoading, toResponseBody } from '../response-size.ts'
import { compileBodyCheck } from './body-validation.ts'
import { parseQuery, unknownParameters } from './query-parameters.ts'
import { readJsonBody } from './read-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The response's `warnings`, if not empty. */
    warnings: string[]
  }
  interface FastifyContextConfig {
    /** Whether the route exists only to return 405. */
    refuses?: boolean
  }
  interface FastifyInstance {
    unknownPaths: UnknownPath[]
  }
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's X-Request-Id if it is valid, else a new id. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : newId()
}

/**
 * Conventions of every route: request ids, strict validation, warnings, one error shape, 404 and 405. Call it before
 * any route is added, and `refuseOtherMethods` after the last.
 */
export function applyConventions(app: FastifyInstance): void {
  app.decorateRequest('warnings')
  app.addHook('onRequest', (_request, _reply, next) => boundLoading(next))
  app.addHook('onRequest', async (request, reply) => {
    request.warnings = []
    reply.header('x-request-id', request.id)
    if (request.url.includes('?')) {
      const schema = request.routeOptions.schema?.querystring as TSchema | undefined
      request.warnings.push(...unknownParameters(schema, request.query as Record<string, unknown>))
    }
  })
  app.addHook('preSerialization', async (request, _reply, payload) => {
    const succeeded =
      payload !== null && typeof payload === 'object' && (payload as { status?: unknown }).status !== 'error'
    const warned = succeeded && request.warnings.length > 0
    return warned ? { ...payload, warnings: request.warnings } : payload
  })

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', readJsonBody)
  app.setValidatorCompiler(compileValidator as FastifySchemaCompiler<unknown>)
  // Response schemas are documentation; the handler's object is sent unchanged. A test checks every response against
  // its schema.
  app.setSerializerCompiler(() => toResponseBody)
  app.setReplySerializer(toResponseBody)

  app.setErrorHandler((error, request, reply) =>
    sendError(toServiceError(error as FastifyError), error, request, reply),
  )
  const others: UnknownPath[] = []
  app.decorate('unknownPaths', others)
  app.setNotFoundHandler(async (request, reply) => {
    const error = missingRoute(app, request)
    if (error.status === 404) for (const respond of others) if (await respond(request, reply)) return reply
    return sendError(error, null, request, reply)
  })
  // The body is not read, because there is no route for it anyway. Requests without one may be for a page.
  app.addHook('preParsing', (request, _reply, payload, next) => {
    const canHaveBody = request.method !== 'GET' && request.method !== 'HEAD'
    next(request.is404 && canHaveBody ? missingRoute(app, request) : null, payload)
  })
}

/** A 405 if the path has a route for another method, or else a 404. */
function missingRoute(app: FastifyInstance, { method, url }: FastifyRequest): ServiceError {
  const allowed = methodsOf(app, url)
  if (allowed.length > 0 && !allowed.includes(method)) return methodNotAllowed(method, allowed)
  const message = `There is no route ${method} ${shown(url.split('?')[0] ?? '')}. See /docs/api for all routes.`
  return new ServiceError(404, 'route_not_found', message)
}

/** The methods for which a path has a route. */
function methodsOf(app: FastifyInstance, url: string): string[] {
  return app.supportedMethods.filter((method) => app.findRoute({ method: method as HTTPMethods, url }) !== null)
}

function methodNotAllowed(method: string, allowed: string[]): ServiceError {
  const allow = allowed.join(', ')
  const message = `${method} is not allowed here. Use ${allow}.`
  return new ServiceError(405, 'method_not_allowed', message, { headers: { allow } })
}

/** Responds to a request for a path without a route, or returns false. */
export type UnknownPath = (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>

/** Lets `respond` handle a path without a route before it becomes a 404. */
export function handleUnknownPaths(app: FastifyInstance, respond: UnknownPath): void {
  app.unknownPaths.push(respond)
}

/**
 * Refuses, with 405, the other methods of paths such as POST /v1/agents/dry-run. Without it, DELETE /v1/agents/dry-run
 * would reach DELETE /v1/agents/:agent_id.
 */
export function refuseOtherMethods(app: FastifyInstance): { done: () => void } {
  const methodsByUrl = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    methodsByUrl.set(url, [...(methodsByUrl.get(url) ?? []), ...[method].flat()])
  })
  return {
    done: () => {
      const shadowed = [...methodsByUrl].filter(([url, own]) => methodsOf(app, url).some((name) => !own.includes(name)))
      // CONNECT is for proxies and never gets here.
      const methods = METHODS.filter((name) => name !== 'CONNECT')
      for (const name of methods) if (!app.supportedMethods.includes(name)) app.addHttpMethod(name, { hasBody: true })
      for (const [url, allowed] of shadowed) {
        app.route({
          method: methods.filter((name) => !allowed.includes(name)),
          url,
          schema: { hide: true } as object,
          config: { access: 'public', refuses: true },
          // The body is not read, because the method is wrong anyway.
          onRequest: async ({ method }) => {
            throw methodNotAllowed(method, allowed)
          },
          handler: async () => {},
        })
      }
    },
  }
}

function compileValidator({ schema, httpPart }: { schema: TSchema; httpPart?: string }) {
  if (httpPart === 'querystring') {
    return (raw: Record<string, unknown>) => {
      const parsed = parseQuery(schema, raw)
      return 'details' in parsed ? { error: validationError(parsed.details) } : parsed
    }
  }
  // Path ids are checked at the look-up: a malformed one is a 404, which comes after validation. Headers are only
  // documented here.
  if (httpPart === 'params' || httpPart === 'headers') return (value: unknown) => ({ value })
  const check = compileBodyCheck(schema)
  return (value: unknown) => {
    if (value === undefined || value === null) {
      if ('x-optional' in schema) return { value: {} }
      return { error: validationError([{ path: '', message: 'is required: send a JSON object' }]) }
    }
    const details = check(value)
    return details.length > 0 ? { error: validationError(details) } : { value }
  }
}

/** The error that is returned for one that a route or the framework threw. */
export function toServiceError(error: FastifyError | ServiceError): ServiceError {
  if (error instanceof ServiceError) return error
  const cause = error
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ServiceError(413, 'body_too_large', 'The body is too large for this endpoint. Send less at once.', {
        cause,
      })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ServiceError(415, 'unsupported_media_type', 'Send the body as Content-Type: application/json.', {
        cause,
      })
    case 'FST_ERR_BAD_URL':
      return new ServiceError(400, 'invalid_url', 'The path has invalid percent-encoding.', { cause })
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ServiceError(404, 'not_found', 'There is no such record.', { cause })
  }
  const unavailable = asUnavailable(error)
  if (unavailable) return unavailable
  if (error.statusCode === 400) return new ServiceError(400, 'bad_request', 'The request cannot be read.', { cause })
  return new ServiceError(500, 'internal_error', 'An internal error occurred. Report the request_id to the operator.', {
    cause,
  })
}

/** Responds to requests that Fastify rejects before routing, such as a path with invalid percent-encoding. */
export function sendFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  sendError(toServiceError(error), error, request, reply)
}

function sendError(error: ServiceError, original: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (error.status >= 500) request.log.error({ err: original, code: error.code }, 'request failed')
  else request.log.debug({ code: error.code }, error.message)
  return reply.code(error.status).headers(error.headers).send(errorBody(error, request.id))
}

/** The one shape of every error response. */
export function errorBody(error: ServiceError, requestId: string) {
  const details = error.details ? { details: error.details } : {}
  return {
    status: 'error',
    error: { code: error.code, message: error.message, ...details, request_id: requestId },
  }
}
