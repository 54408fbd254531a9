import type { Sweeping } from '../../platform/jobs/jobs.ts'
import { openTenant, type Tenant } from '../../platform/tenant.ts'
import { nextTimeOf } from '../schedule.ts'
import { requestRun } from './requests.ts'

const AT_ONCE = 100

/**
 * Queues the scheduled runs that are due. Each is queued once, even if several processes do this. One run makes up for all
 * missed times.
 */
export async function sweepSchedules({ stores, jobs, clock, log }: Sweeping): Promise<void> {
  const now = clock()
  const due = await stores.database
    .selectFrom('warehouse_destinations')
    .select(['tenant_id', 'destination_id'])
    .where('next_run_at', '<=', now)
    .orderBy('next_run_at')
    .limit(AT_ONCE)
    .execute()
  for (const { tenant_id, destination_id } of due) {
    const queue = (tx: Tenant) => queueDue(tx, jobs, destination_id, now)
    await openTenant(stores, tenant_id)
      .transaction(queue)
      .catch((error) => log.warn({ err: error, tenant_id, destination_id }, 'a warehouse export could not be queued'))
  }
}

async function queueDue(tx: Tenant, jobs: Sweeping['jobs'], id: string, now: Date): Promise<void> {
  const row = await tx.db
    .selectFrom('warehouse_destinations')
    .selectAll()
    .where('destination_id', '=', id)
    .where('next_run_at', '<=', now)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (!row) return
  await tx.db
    .updateTable('warehouse_destinations')
    .set({ next_run_at: nextTimeOf(jobs, row, now) })
    .where('destination_id', '=', id)
    .execute()
  await requestRun(tx, id, { trigger: 'schedule', isFull: false }, now)
}
