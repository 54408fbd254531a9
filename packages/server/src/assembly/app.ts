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
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { createServer } from '../platform/http/server.ts'
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
export async function createApp(given: AppDependencies): Promise<App> {
  const { app, rateLimiter, isClosing, done } = await createServer(given)
  const dependencies = { ...given, rateLimiter, isClosing }
  authenticateRequests(app, dependencies)

  app.get('/openapi.json', { config: { access: 'public' }, schema: { hide: true } as object }, async () =>
    app.swagger(),
  )
  operationsRoutes(app, dependencies)
  mountOperations<Services>(app, OPERATIONS, { ...dependencies, refuseWhileErasing, moveMails })
  // What is no operation: streams and files, signing in, pages, and what visitors and their mail programs call.
  liveRoutes(app, dependencies)
  csvRoutes(app, dependencies)
  exportFileRoute(app, dependencies)
  authRoutes(app, dependencies)
  sessionRoutes(app, dependencies)
  invitationRoutes(app, dependencies)
  await servePages(app)
  await siteRoutes(app, dependencies)
  await app.register((scope) => unsubscribeRoutes(scope as unknown as App, { ...given.mail, stores: given.stores }))
  done()
  return app
}

/** What the sites of tenants call: the tracker's script, the collector and forms. */
async function siteRoutes(app: App, dependencies: AppDependencies & { rateLimiter: RateLimiter }): Promise<void> {
  const { trackerScriptPath: scriptPath, trackerCollectPath: collectPath } = dependencies.config
  const script = await buildTrackerScript(scriptPath, collectPath)
  await app.register((scope) => collectorRoutes(scope as unknown as App, { ...dependencies, collectPath }))
  await app.register((scope) => scriptRoutes(scope as unknown as App, { ...dependencies, script, scriptPath }))
  await app.register((scope) => formRoutes(scope as unknown as App, dependencies))
}
