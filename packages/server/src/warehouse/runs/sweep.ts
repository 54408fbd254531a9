import { sql } from 'kysely'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Sweep } from '../../platform/runs/workers.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { nextTimeOf } from '../schedule.ts'
import { requestRun } from './requests.ts'

/** Queues the scheduled runs that are due, each once. One run makes up for all missed times. */
export function dueExports(jobs: Pick<Jobs, 'nextTime'>): Sweep {
  return {
    table: 'warehouse_destinations',
    id: 'destination_id',
    isDue: (now) => sql<boolean>`next_run_at <= ${now}`,
    handle: (tenant, id, now) => tenant.transaction((tx) => queueDue(tx, jobs, id, now)),
  }
}

async function queueDue(tx: Tenant, jobs: Pick<Jobs, 'nextTime'>, id: string, now: Date): Promise<void> {
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
