import type { App } from '../platform/http/app-types.ts'
import type { Clock } from '../platform/time.ts'
import { viewRoutes } from './view-routes.ts'

export interface PageDependencies {
  clock: Clock
}

/** What the dashboard's pages ask for beyond the public API: everything under /api that is not about signing in. */
export function pageRoutes(app: App, dependencies: PageDependencies): void {
  viewRoutes(app, dependencies)
}
