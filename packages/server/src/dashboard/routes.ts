import type { SignedIn } from '../access/sessions.ts'
import type { Auth } from '../access/sign-in/auth.ts'
import { authRoutes } from '../access/sign-in/auth-routes.ts'
import { invitationRoutes } from '../access/sign-in/invitation-routes.ts'
import { sessionRoutes } from '../access/sign-in/session-routes.ts'
import type { Config } from '../config.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { App } from '../platform/http/app-types.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import type { Logger } from '../platform/log.ts'
import type { Mailer } from '../platform/mail.ts'
import type { Stores } from '../platform/tenant.ts'
import { servePages } from '../static/pages.ts'
import { type IdentityPageDependencies, identityPageRoutes } from './identity-routes.ts'

export interface DashboardDependencies extends IdentityPageDependencies {
  config: Config
  stores: Stores
  mailer: Mailer | null
  log: Logger
  auth: () => Promise<Auth>
  findSession(cookies: string | undefined): Promise<SignedIn | null>
  findChallenged(cookies: string | undefined): Promise<string | null>
  rateLimiter: RateLimiter
  secrets: SecretBox
}

/** What the dashboard's pages need beside the API: signing in, their own questions, and the pages themselves. */
export async function dashboardRoutes(app: App, dependencies: DashboardDependencies): Promise<void> {
  authRoutes(app, dependencies)
  sessionRoutes(app, dependencies)
  invitationRoutes(app, dependencies)
  identityPageRoutes(app, dependencies)
  await servePages(app)
}
