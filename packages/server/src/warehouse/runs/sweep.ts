import { sql } from 'kysely'
import { isOfOpenTenant } from '../../platform/closed-tenants.ts'
import type { Sweeping } from '../../platform/jobs/jobs.ts'
import { isFree, RELEASED } from '../../platform/postgres/lease.ts'
import { openTenant, type Tenant } from '../../platform/tenant.ts'
import { OPEN } from '../destination.ts'
import { nextTimeOf } from '../schedule.ts'
import { requestRun, sendRun } from './requests.ts'

const AT_ONCE = 100
/** A run whose job has not claimed it for this long may have lost its job. */
const JOB_SENT_AGAIN_AFTER_MS = 120_000

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
    .where(isOfOpenTenant(stores))
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
  await requestRun(tx, jobs, id, { trigger: 'schedule', isFull: false }, now)
}

/**
 * Queues runs again if their process died, if their pause after a failure is over, or if their job may have died before it
 * claimed them.
 */
export async function sweepRuns({ stores, jobs, clock, log }: Sweeping): Promise<void> {
  const now = clock()
  const open = await stores.database
    .selectFrom('warehouse_runs')
    .select(['tenant_id', 'run_id'])
    // For PostgreSQL, the CASE alone does not imply the predicate of the index of open runs.
    .where('status', 'in', OPEN)
    .where(isToBeQueued(now))
    .where(isOfOpenTenant(stores))
    .limit(AT_ONCE)
    .execute()
  for (const { tenant_id, run_id } of open) {
    const queue = (tx: Tenant) => queueAgain(tx, jobs, run_id, now)
    await openTenant(stores, tenant_id)
      .transaction(queue)
      .catch((error) => log.warn({ err: error, tenant_id, run_id }, 'a warehouse export could not be continued'))
  }
}

async function queueAgain(tx: Tenant, jobs: Sweeping['jobs'], runId: string, now: Date): Promise<void> {
  const { numUpdatedRows } = await tx.db
    .updateTable('warehouse_runs')
    .set({ status: 'queued', next_attempt_at: null, queued_at: now, ...RELEASED })
    .where('run_id', '=', runId)
    .where(isToBeQueued(now))
    .executeTakeFirst()
  if (numUpdatedRows > 0n) await sendRun(tx, jobs, runId)
}

function isToBeQueued(now: Date) {
  const sentBefore = new Date(now.getTime() - JOB_SENT_AGAIN_AFTER_MS)
  return sql<boolean>`CASE status WHEN 'running' THEN ${isFree} WHEN 'retrying' THEN next_attempt_at <= ${now}
    WHEN 'queued' THEN queued_at <= ${sentBefore} END`
}
