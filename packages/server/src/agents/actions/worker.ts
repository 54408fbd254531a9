import type { Jobs } from '../../platform/jobs/jobs.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import { executeAction } from './execute.ts'
import { ACTION_QUEUE } from './queue.ts'
import type { ExecutionDependencies } from './senders.ts'

/** Concurrent executions in this process. Most of the time they wait for a mail server. */
const CONCURRENCY = 4

/** Executes approved actions of all tenants when they are due, until the jobs stop. */
export async function workOnActions(
  stores: Stores,
  jobs: Jobs,
  dependencies: Omit<ExecutionDependencies, 'jobs'>,
): Promise<void> {
  await jobs.work(ACTION_QUEUE, CONCURRENCY, async ({ tenantId, ...ref }) => {
    await executeAction(openTenant(stores, tenantId), { ...dependencies, jobs }, ref)
  })
}
