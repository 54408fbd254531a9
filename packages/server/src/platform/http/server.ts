import helmet from '@fastify/helmet'
import swagger from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import type { Config } from '../../config.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Clock } from '../time.ts'
import type { App } from './app-types.ts'
import { sendClientError } from './client-errors.ts'
import { watchClosing } from './closing.ts'
import { applyConventions, refuseOtherMethods, requestIdOf, sendFrameworkError } from './conventions.ts'
import { BODY_BYTES_MAX } from './json-body.ts'
import { describeApi } from './openapi.ts'
import type { Tag } from './openapi-document.ts'
import { createRateLimiter, type RateLimiter } from './rate-limits.ts'
import { boundSlowBodies } from './slow-bodies.ts'
import { boundUnreadResponses } from './unread-responses.ts'

/** An HTTP server without routes. */
export interface Server {
  app: App
  rateLimiter: RateLimiter
  /** Whether the service is stopping, for handlers that wait. */
  isClosing(): boolean
  /** Call it once all routes are added. */
  done(): void
}

/** Makes the HTTP server with what applies to every route: limits, errors, headers, metrics and openapi.json. */
export async function createServer({
  config,
  clock,
  log,
  metrics,
  tags,
}: {
  config: Config
  clock: Clock
  log: Logger
  metrics: Metrics
  /** The headings of openapi.json, in its order. */
  tags: readonly Tag[]
}): Promise<Server> {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    bodyLimit: BODY_BYTES_MAX,
    // Hops count from the socket, so entries that a client forges are never trusted.
    trustProxy: config.trustedProxies > 0 && ((_address, hop) => hop < config.trustedProxies),
    // See slow-bodies.ts.
    requestTimeout: 0,
    http: { requireHostHeader: false },
    forceCloseConnections: 'idle',
    // Requests that still arrive while the service stops are served, and their connections closed.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: false },
    clientErrorHandler: sendClientError,
    frameworkErrors: sendFrameworkError,
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as App

  boundSlowBodies(app)
  boundUnreadResponses(app, config.unreadResponseSeconds)
  warnOfIgnoredHeader(app, config.trustedProxies)
  applyConventions(app)
  const isClosing = watchClosing(app)
  const otherMethods = refuseOtherMethods(app)
  observeRequests(app, metrics)
  // An Expect header other than 100-continue is not a reason to refuse a request.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  await app.register(helmet, {
    // Pages have policies of their own.
    contentSecurityPolicy: false,
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // Whether a host is HTTPS only is up to the operator of its proxy.
    strictTransportSecurity: false,
  })
  await app.register(swagger, describeApi(config, tags))
  return { app, rateLimiter: createRateLimiter(config.rateLimits, clock), isClosing, done: otherMethods.done }
}

/**
 * Warns once when a request has X-Forwarded-For although no proxy is trusted: behind a proxy, all clients would then
 * count as one address and share its limits. Anyone can send the header, so this is only a hint.
 */
function warnOfIgnoredHeader(app: FastifyInstance, trustedProxies: number): void {
  let isDone = trustedProxies > 0
  app.addHook('onRequest', async ({ headers, log }) => {
    if (isDone || headers['x-forwarded-for'] === undefined) return
    isDone = true
    log.warn(
      'a request has the header X-Forwarded-For, which is ignored because CDS_TRUST_PROXY is 0. If this service is behind a proxy, set CDS_TRUST_PROXY to the number of proxies: until then, all clients behind it share the limits of one address',
    )
  })
}

/** Measures every request by its route's name, and logs failed or slow ones. */
function observeRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    // The duration of a live feed says nothing about the service.
    if (String(reply.getHeader('content-type')).startsWith('text/event-stream')) return
    const route = routeName(request)
    const seconds = reply.elapsedTime / 1000
    metrics.requestSeconds.observe({ route, method: request.method, status: reply.statusCode }, seconds)
    // Only the route's name: a path or a query may contain user input.
    const line = {
      route,
      method: request.method,
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime),
      tenant_id: request.tenant?.id,
    }
    if (reply.statusCode >= 500 || seconds > 1) request.log.warn(line, 'request')
    else request.log.debug(line, 'request')
  })
}

function routeName(request: FastifyRequest): string {
  const { schema, url } = request.routeOptions
  return (schema as { operationId?: string } | undefined)?.operationId ?? url ?? 'unknown'
}
