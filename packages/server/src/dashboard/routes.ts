import type { SignedIn } from '../access/sessions.ts'
import type { Auth } from '../access/sign-in/auth.ts'
import { authRoutes } from '../access/sign-in/auth-routes.ts'
import { sessionRoutes } from '../access/sign-in/session-routes.ts'
import { invitationRoutes } from '../access/team/invitation-routes.ts'
import { type TeamDependencies, teamRoutes } from '../access/team/team-routes.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { App } from '../platform/http/app-types.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { servePages } from '../static/pages.ts'

export interface DashboardDependencies extends TeamDependencies {
  auth: () => Promise<Auth>
  findSession(cookies: string | undefined): Promise<SignedIn | null>
  findChallenged(cookies: string | undefined): Promise<string | null>
  rateLimiter: RateLimiter
  secrets: SecretBox
}

/** What the dashboard's pages need beside the API: signing in, the team, and the pages themselves. */
export async function dashboardRoutes(app: App, dependencies: DashboardDependencies): Promise<void> {
  authRoutes(app, dependencies)
  sessionRoutes(app, dependencies)
  invitationRoutes(app, dependencies)
  teamRoutes(app, dependencies)
  await servePages(app)
}
