import { openGroupCommit, type Session } from '../src/cli/session.ts'
import { openTenant } from '../src/platform/tenant.ts'
import type { TestService } from './service.ts'

/** What a command works with beside a running service. */
export function commandSession(service: TestService): Session {
  return {
    stores: service.stores,
    serviceRuns: true,
    address: service.postgres.address,
    config: service.config,
    tenant: (tenantId) => openTenant(service.stores, tenantId),
    writing: () => service.writing,
    groupCommit: (preparePart) => openGroupCommit(service.stores, service.postgres.pool, { preparePart }),
    close: async () => {},
  }
}
