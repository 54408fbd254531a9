import helmet from '@fastify/helmet'
import swagger from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { LogController } from 'fastify'
import type { Config } from '../../config.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Clock } from '../time.ts'
import type { App } from './app-types.ts'
import { answerClientError } from './client-errors.ts'
import { watchClosing } from './closing.ts'
import { answerFrameworkError, answerOtherMethods, applyConventions, requestIdOf } from './conventions.ts'
import { warnOfIgnoredHeader } from './forwarded-header.ts'
import { observeRequests } from './observe.ts'
import { describeApi } from './openapi.ts'
import { createRateLimiter, type RateLimiter } from './rate-limits.ts'
import { boundSlowBodies } from './slow-bodies.ts'
import { boundUnreadResponses } from './unread-responses.ts'

const BODY_BYTES_MAX = 1024 * 1024

/** An HTTP server without routes. */
export interface Server {
  app: App
  rateLimiter: RateLimiter
  /** Whether the service is stopping, for handlers that wait. */
  isClosing(): boolean
  /** Call it once all routes are added. */
  done(): void
}

/** Makes the HTTP server with what holds for every route: limits, errors, headers, metrics and openapi.json. */
export async function createServer({
  config,
  clock,
  log,
  metrics,
}: {
  config: Config
  clock: Clock
  log: Logger
  metrics: Metrics
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
    // Requests that still arrive while the service stops are answered, and their connections closed.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: false },
    clientErrorHandler: answerClientError,
    frameworkErrors: answerFrameworkError,
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as App

  boundSlowBodies(app)
  boundUnreadResponses(app, config.unreadResponseSeconds)
  warnOfIgnoredHeader(app, config.trustedProxies)
  applyConventions(app)
  const isClosing = watchClosing(app)
  const otherMethods = answerOtherMethods(app)
  observeRequests(app, metrics)
  // An Expect header other than 100-continue is no reason to refuse a request.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  await app.register(helmet, {
    // Pages have policies of their own.
    contentSecurityPolicy: false,
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // Whether a host is HTTPS only is up to the operator of its proxy.
    strictTransportSecurity: false,
  })
  await app.register(swagger, describeApi(config))
  return { app, rateLimiter: createRateLimiter(config.rateLimits, clock), isClosing, done: otherMethods.done }
}
