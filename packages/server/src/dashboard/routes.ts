import type { Config } from '../config.ts'
import type { App } from '../platform/http/app-types.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import type { Mailer } from '../platform/mail.ts'
import type { Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { type PageDependencies, pageRoutes } from './page-routes.ts'
import type { Auth } from './sign-in/auth.ts'
import { authRoutes } from './sign-in/auth-routes.ts'
import { sessionRoutes } from './sign-in/session-routes.ts'

export type DashboardDependencies = PageDependencies & {
  config: Config
  stores: Stores
  auth: () => Promise<Auth>
  mailer: Mailer | null
  rateLimiter: RateLimiter
  clock: Clock
}

/** What the dashboard's pages need beside the API: signing in, the team, and the pages themselves. */
export function dashboardRoutes(app: App, dependencies: DashboardDependencies): void {
  authRoutes(app, dependencies)
  sessionRoutes(app, dependencies)
  pageRoutes(app, dependencies)
}
