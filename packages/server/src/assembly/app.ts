import { authenticateRequests } from '../access/authentication.ts'
import type { createLookups } from '../access/lookups.ts'
import { consentRoutes } from '../access/oauth/consent-routes.ts'
import { oauthRoutes } from '../access/oauth/routes.ts'
import { authRoutes } from '../access/sign-in/auth-routes.ts'
import { invitationRoutes } from '../access/sign-in/invitation-routes.ts'
import { sessionRoutes } from '../access/sign-in/session-routes.ts'
import type { prepareSignIn } from '../access/sign-in/start.ts'
import type { Config } from '../config.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { docsRoutes } from '../docs/routes.ts'
import { hookRoutes } from '../hooks/routes.ts'
import type { FindHook } from '../hooks/tokens.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import { unsubscribeRoutes } from '../identities/unsubscribe/routes.ts'
import { importFileRoutes } from '../imports/routes.ts'
import { liveRoutes } from '../live/routes.ts'
import type { HandlerDependencies } from '../mcp/handler.ts'
import { mcpRoutes } from '../mcp/routes.ts'
import { mountOperations } from '../operations/http.ts'
import { TAGS } from '../operations/tags.ts'
import { csvRoutes } from '../overview/csv-routes.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { healthRoutes } from '../platform/health-routes.ts'
import type { App } from '../platform/http/app-types.ts'
import { type Compressed, compress, sendCompressed } from '../platform/http/compressed.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { createServer } from '../platform/http/server.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { PlaceOf } from '../platform/places.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Stores } from '../platform/tenant.ts'
import { mondayRoutes } from '../reports/monday-links.ts'
import { reportRoutes } from '../reports/routes.ts'
import { sharedRoutes } from '../reports/shared-routes.ts'
import { createLeads } from '../sites/forms/leads.ts'
import { formRoutes } from '../sites/forms/routes.ts'
import { watchServers } from '../sites/problems/watch.ts'
import { segmentRoutes } from '../sites/segment/routes.ts'
import { collectorRoutes } from '../sites/track/routes.ts'
import { buildTrackerScript } from '../sites/track/script.ts'
import { scriptRoutes } from '../sites/track/script-routes.ts'
import type { FindSource } from '../sources/write-keys.ts'
import { servePages } from '../static/pages.ts'
import { exportFileRoute } from '../tenant-export/routes.ts'
import { OPERATIONS } from './all-operations.ts'
import type { Connections } from './connections.ts'
import { operationServices } from './operation-services.ts'
import type { PurposeDependencies } from './purposes.ts'
import type { Recording } from './recording.ts'

type AppDependencies = Omit<Connections, 'close'> &
  Omit<Recording, 'recordHistory' | 'stop'> &
  WriteServices &
  ReturnType<typeof createLookups> &
  Pick<ReturnType<typeof prepareSignIn>, 'auth' | 'findSession' | 'findChallenged' | 'mailer'> &
  Pick<HandlerDependencies, 'extendMcpServer'> &
  Pick<PurposeDependencies, 'mailServers'> & {
    config: Config
    stores: Stores
    secrets: SecretBox
    jobs: Jobs
    mail: MailDependencies
    /** Finds the source of a write key. */
    findSource: FindSource
    /** Finds the hook of a token. */
    findHook: FindHook
    invalidation: Pick<Invalidation, 'caughtUp'>
    /** Why the service is not ready. */
    findProblems(): Promise<string[]>
    metrics: Metrics
    placeOf: PlaceOf
  }

/** Puts the HTTP service together; it listens when told to. */
export async function createApp(given: AppDependencies): Promise<App> {
  const { app, rateLimiter, isClosing, done } = await createServer({ ...given, tags: TAGS })
  const dependencies = { ...given, rateLimiter, isClosing }
  authenticateRequests(app, dependencies)
  watchServers(app, given.problems)

  openapiRoute(app)
  healthRoutes(app, dependencies)
  const services = { ...dependencies, ...operationServices(dependencies) }
  mountOperations(app, OPERATIONS, services)
  // What is not an operation: streams and files, signing in, pages, and what visitors and their mail programs call.
  liveRoutes(app, dependencies)
  csvRoutes(app, services)
  reportRoutes(app, services)
  sharedRoutes(app, services)
  exportFileRoute(app, dependencies)
  await app.register((scope) => importFileRoutes(scope as unknown as App, dependencies))
  authRoutes(app, dependencies)
  sessionRoutes(app, dependencies)
  invitationRoutes(app, dependencies)
  consentRoutes(app, services)
  await app.register((scope) => oauthRoutes(scope as unknown as App, dependencies))
  docsRoutes(app)
  await app.register((scope) => mcpRoutes(scope as unknown as App, services))
  await servePages(app)
  await siteRoutes(app, dependencies)
  await app.register((scope) => unsubscribeRoutes(scope as unknown as App, dependencies))
  await app.register((scope) => mondayRoutes(scope as unknown as App, dependencies))
  done()
  return app
}

/** openapi.json, compressed: it has half a megabyte. */
function openapiRoute(app: App): void {
  let document: Promise<Compressed> | undefined
  const schema = { hide: true } as object
  app.get('/openapi.json', { config: { access: 'public' }, schema }, async (request, reply) => {
    document ??= compress(JSON.stringify(app.swagger()), 'application/json; charset=utf-8', 9)
    return sendCompressed(await document, 'no-cache', request, reply)
  })
}

/** What the sites of tenants and other systems call: the tracker's script, the collector, forms and hooks. */
async function siteRoutes(app: App, dependencies: AppDependencies & { rateLimiter: RateLimiter }): Promise<void> {
  const { trackerScriptPath: scriptPath, trackerCollectPath: collectPath } = dependencies.config
  const script = await buildTrackerScript(scriptPath, collectPath)
  const collector = { ...dependencies, collectPath, takeLead: createLeads(dependencies) }
  await app.register((scope) => collectorRoutes(scope as unknown as App, collector))
  await app.register((scope) => scriptRoutes(scope as unknown as App, { ...dependencies, script, scriptPath }))
  await app.register((scope) => formRoutes(scope as unknown as App, dependencies))
  await app.register((scope) => segmentRoutes(scope as unknown as App, dependencies))
  await app.register((scope) => hookRoutes(scope as unknown as App, dependencies))
}
