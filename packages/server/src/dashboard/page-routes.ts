import type { DecisionDependencies } from '../agents/actions/decide.ts'
import type { ConfigurationDependencies } from '../agents/configuration.ts'
import type { Config } from '../config.ts'
import type { App } from '../platform/http/app-types.ts'
import { agentPageRoutes } from './agent-routes.ts'
import { agentSettingsRoutes } from './agent-settings-routes.ts'
import { approvalRoutes } from './approval-routes.ts'
import { type IdentityPageDependencies, identityPageRoutes } from './identity-routes.ts'
import { playbookRoutes } from './playbook-routes.ts'

export interface PageDependencies extends IdentityPageDependencies {
  config: Config
  jobs: DecisionDependencies['jobs'] & ConfigurationDependencies['jobs']
}

/** What the pages ask for beyond the public API: everything under /api that is not about signing in. */
export function pageRoutes(app: App, dependencies: PageDependencies): void {
  agentPageRoutes(app, dependencies)
  agentSettingsRoutes(app, dependencies)
  approvalRoutes(app, dependencies)
  identityPageRoutes(app, dependencies)
  playbookRoutes(app, dependencies)
}
