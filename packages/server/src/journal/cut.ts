import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { storeUnavailable } from '../platform/errors.ts'
import { lockKey } from '../platform/postgres/locks.ts'
import type { Tenant } from '../platform/tenant.ts'

const WAIT_MS_MAX = 30_000
const AGAIN_AFTER_MS = 50

/**
 * A number that divides a tenant's rows in ClickHouse. The rows up to this `sequence` are complete, and include every event
 * acknowledged before the call. Rows that arrive later have higher numbers.
 * @throws ServiceError 503 if ClickHouse does not accept rows.
 */
export async function cutOfJournal(tenant: Tenant): Promise<number> {
  await tenant.events.barrier()
  const cutting = sql<{ cut: number | string }>`SELECT journal_cut(${lockKey('journal')}) AS cut`
  const { rows } = await cutting.execute(tenant.unrestricted)
  const cut = Number(rows[0]?.cut ?? 0)
  const endsAt = performance.now() + WAIT_MS_MAX
  while (await isWaiting(tenant, cut)) {
    if (performance.now() > endsAt) throw storeUnavailable('ClickHouse', new Error('a batch of events is not stored'))
    await sleep(AGAIN_AFTER_MS)
    await tenant.events.barrier()
  }
  return cut
}

/** Whether rows of the tenant up to this number are not in ClickHouse yet. */
async function isWaiting(tenant: Tenant, cut: number): Promise<boolean> {
  const found = await tenant.unrestricted
    .selectFrom('journal')
    .select('journal_id')
    .where('sequence', '<=', String(cut))
    .where(sql<boolean>`${tenant.id}::uuid = ANY (tenant_ids)`)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
