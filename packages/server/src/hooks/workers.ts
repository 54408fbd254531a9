import type { WriteServices } from '../contacts/writing/writer.ts'
import { isOfOpenTenant } from '../platform/closed-tenants.ts'
import { every, type Repeated } from '../platform/every.ts'
import { isFree } from '../platform/postgres/lease.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import type { RecordCalls } from '../sites/ingestion/record-calls.ts'
import { claimBody } from './bodies.ts'
import { requireHook } from './hooks.ts'
import { tryBody } from './process.ts'
import type { RecordServices } from './record.ts'

const EVERY_MS = 5_000
/** Bodies per round. The next round continues. */
const ROUND = 100

/** Records bodies that a process did not finish, because it died or a database was unavailable. */
export function startHookWorkers({
  stores,
  writing,
  recordCalls,
}: {
  stores: Stores
  writing: WriteServices
  recordCalls: RecordCalls
}): Repeated {
  const services = { ...writing, recordCalls }
  return every(EVERY_MS, async () => {
    try {
      await recordPending(stores, services)
    } catch (err) {
      writing.log.warn({ err }, 'pending bodies of hooks could not be recorded; retrying')
    }
  })
}

/** Records pending bodies that no process is working on, oldest first. */
async function recordPending(stores: Stores, services: RecordServices): Promise<void> {
  const rows = await stores.database
    .selectFrom('hook_bodies')
    .select(['tenant_id', 'hook_id', 'body_id'])
    .where('state', '=', 'pending')
    .where(isFree)
    .where(isOfOpenTenant(stores))
    .orderBy('received_at')
    .orderBy('body_id')
    .limit(ROUND)
    .execute()
  for (const { tenant_id, hook_id, body_id } of rows) {
    const tenant = openTenant(stores, tenant_id)
    const body = await claimBody(tenant, hook_id, body_id)
    if (body === null) continue
    await tryBody(tenant, services, await requireHook(tenant, hook_id), body)
  }
}
