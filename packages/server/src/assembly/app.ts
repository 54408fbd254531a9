import helmet from '@fastify/helmet'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { LogController } from 'fastify'
import type { FindApiKey } from '../access/api-key-lookup.ts'
import { authenticateRequests } from '../access/authentication.ts'
import type { FindIdentificationKeys } from '../access/identification-settings.ts'
import type { SignedIn } from '../access/sessions.ts'
import type { Auth } from '../access/sign-in/auth.ts'
import { authRoutes } from '../access/sign-in/auth-routes.ts'
import { invitationRoutes } from '../access/sign-in/invitation-routes.ts'
import { sessionRoutes } from '../access/sign-in/session-routes.ts'
import type { Config } from '../config.ts'
import type { WriteDependencies } from '../contacts/change-log.ts'
import { refuseWhileErasing } from '../erasure/erasures.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import { moveMails } from '../identities/mail/reservation.ts'
import type { SocialConnector } from '../identities/social/connector.ts'
import { unsubscribeRoutes } from '../identities/unsubscribe/routes.ts'
import type { GroupCommit } from '../journal/group-commit.ts'
import type { LiveFeed } from '../live/feed.ts'
import { liveRoutes } from '../live/routes.ts'
import { mountOperations } from '../operations/http.ts'
import { csvRoutes } from '../overview/csv-routes.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { App } from '../platform/http/app-types.ts'
import { answerClientError } from '../platform/http/client-errors.ts'
import { watchClosing } from '../platform/http/closing.ts'
import {
  answerFrameworkError,
  answerOtherMethods,
  applyConventions,
  requestIdOf,
} from '../platform/http/conventions.ts'
import { warnOfIgnoredHeader } from '../platform/http/forwarded-header.ts'
import { observeRequests } from '../platform/http/observe.ts'
import { describeApi } from '../platform/http/openapi.ts'
import { createRateLimiter } from '../platform/http/rate-limits.ts'
import { boundUnreadResponses } from '../platform/http/unread-responses.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Mailer } from '../platform/mail.ts'
import type { Metrics } from '../platform/metrics.ts'
import { operationsRoutes } from '../platform/operations-routes.ts'
import type { ApiFetch } from '../platform/outbound/api-fetch.ts'
import type { Outbound } from '../platform/outbound/client.ts'
import type { LookUpTxt } from '../platform/outbound/txt-records.ts'
import type { Stores } from '../platform/tenant.ts'
import { formRoutes } from '../sites/forms/routes.ts'
import { collectorRoutes } from '../sites/track/routes.ts'
import { buildTrackerScript } from '../sites/track/script.ts'
import { scriptRoutes } from '../sites/track/script-routes.ts'
import { servePages } from '../static/pages.ts'
import { exportFileRoute } from '../tenant-export/routes.ts'
import { OPERATIONS, type Services } from './all-operations.ts'

const BODY_BYTES_MAX = 1024 * 1024
const REQUEST_TIMEOUT_MS = 60_000

export interface AppDependencies extends WriteDependencies {
  auth: () => Promise<Auth>
  findSession(cookies: string | undefined): Promise<SignedIn | null>
  findChallenged(cookies: string | undefined): Promise<string | null>
  mailer: Mailer | null
  live: LiveFeed
  config: Config
  stores: Stores
  secrets: SecretBox
  jobs: Jobs
  social: SocialConnector
  groupCommit: GroupCommit
  mail: MailDependencies
  findApiKey: FindApiKey
  lookUpTxt: LookUpTxt
  findTenantOfHost(host: string): Promise<string | null>
  findIdentificationKeys: FindIdentificationKeys
  llmOutbound: Pick<ApiFetch, 'check'>
  outbound: Pick<Outbound, 'check'>
  /** Why the service is not ready. */
  findProblems(): Promise<string[]>
  metrics: Metrics
}

/** Puts the HTTP service together; it listens when told to. */
export async function createApp(dependencies: AppDependencies): Promise<App> {
  const { config, clock, log, metrics } = dependencies
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    bodyLimit: BODY_BYTES_MAX,
    // Hops count from the socket, so entries that a client forges are never trusted.
    trustProxy: config.trustedProxies > 0 && ((_address, hop) => hop < config.trustedProxies),
    // A body that does not arrive must not hold its connection for ever.
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { requireHostHeader: false },
    forceCloseConnections: 'idle',
    // A request that still arrives while the service stops is served, and told to close its connection.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: false },
    clientErrorHandler: answerClientError,
    frameworkErrors: answerFrameworkError,
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as App

  const { trackerScriptPath: scriptPath, trackerCollectPath: collectPath } = config
  const script = await buildTrackerScript(scriptPath, collectPath)
  const rateLimiter = createRateLimiter(config.rateLimits, clock)
  boundUnreadResponses(app, config.unreadResponseSeconds)
  warnOfIgnoredHeader(app, config.trustedProxies)
  applyConventions(app)
  const isClosing = watchClosing(app)
  const otherMethods = answerOtherMethods(app)
  observeRequests(app, metrics)
  // What a client expects beyond 100-continue is no reason to refuse its request: it is one like all others.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  await app.register(helmet, {
    // The API reference brings its own policy.
    contentSecurityPolicy: false,
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // Whether a host is HTTPS only is for whoever runs its proxy to promise.
    strictTransportSecurity: false,
  })
  await app.register(swagger, describeApi(config))
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true })
  authenticateRequests(app, { ...dependencies, rateLimiter })
  app.addHook('onRequest', async (request, reply) => {
    if (request.apiKey) rateLimiter.checkApiKey(request.apiKey.keyId, reply)
    if (request.signedIn) rateLimiter.checkUser(request.signedIn.user.id, reply)
  })
  operationsRoutes(app, dependencies)
  const services = { ...dependencies, rateLimiter, isClosing, refuseWhileErasing, moveMails }
  mountOperations<Services>(app, OPERATIONS, services)
  liveRoutes(app, dependencies)
  csvRoutes(app, dependencies)
  exportFileRoute(app, dependencies)
  authRoutes(app, { ...dependencies, rateLimiter })
  sessionRoutes(app, { ...dependencies, rateLimiter })
  invitationRoutes(app, { ...dependencies, rateLimiter })
  await servePages(app)
  await app.register((scope) => collectorRoutes(scope as unknown as App, { ...dependencies, collectPath, rateLimiter }))
  const scriptDependencies = { script, scriptPath, findTenantOfHost: dependencies.findTenantOfHost, rateLimiter }
  await app.register((scope) => scriptRoutes(scope as unknown as App, scriptDependencies))
  await app.register((scope) => formRoutes(scope as unknown as App, { ...dependencies, rateLimiter }))
  await app.register((scope) =>
    unsubscribeRoutes(scope as unknown as App, { ...dependencies.mail, stores: dependencies.stores }),
  )
  app.get('/openapi.json', { config: { access: 'public' }, schema: { hide: true } as object }, async () =>
    app.swagger(),
  )
  otherMethods.done()
  return app
}
