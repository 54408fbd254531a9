import type { DecisionDependencies } from '../agents/actions/decide.ts'
import type { ConfigurationDependencies } from '../agents/configuration.ts'
import type { Config } from '../config.ts'
import type { App } from '../platform/http/app-types.ts'
import { agentPageRoutes } from './agent-routes.ts'
import { agentSettingsRoutes } from './agent-settings-routes.ts'
import { approvalRoutes } from './approval-routes.ts'
import { companyEventRoutes } from './company-routes.ts'
import { csvRoutes } from './csv-routes.ts'
import { type ErasureDependencies, erasureRoutes } from './erasure-routes.ts'
import { type ExportRouteDependencies, exportRoutes } from './export-routes.ts'
import { type IdentityPageDependencies, identityPageRoutes } from './identity-routes.ts'
import { type LiveDependencies, liveRoutes } from './live-routes.ts'
import { overviewRoutes } from './overview-routes.ts'
import { playbookRoutes } from './playbook-routes.ts'
import { propertyRoutes } from './property-routes.ts'
import { viewRoutes } from './view-routes.ts'

export interface PageDependencies
  extends LiveDependencies,
    ErasureDependencies,
    Omit<ExportRouteDependencies, 'config'>,
    IdentityPageDependencies {
  config: Config
  jobs: DecisionDependencies['jobs'] & ConfigurationDependencies['jobs'] & ExportRouteDependencies['jobs']
}

/** What the pages ask for beyond the public API: everything under /api that is not about signing in. */
export function pageRoutes(app: App, dependencies: PageDependencies): void {
  liveRoutes(app, dependencies)
  overviewRoutes(app, dependencies)
  csvRoutes(app, dependencies)
  companyEventRoutes(app)
  propertyRoutes(app, dependencies)
  viewRoutes(app, dependencies)
  agentPageRoutes(app, dependencies)
  agentSettingsRoutes(app, dependencies)
  approvalRoutes(app, dependencies)
  identityPageRoutes(app, dependencies)
  playbookRoutes(app, dependencies)
  erasureRoutes(app, dependencies)
  exportRoutes(app, dependencies)
}
