import { sql } from 'kysely'
import type { Actor } from '../operations/audit.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../platform/postgres/database.ts'
import { announceChange, type Invalidation } from '../platform/postgres/invalidation.ts'
import type { Stores, Tenant } from '../platform/tenant.ts'

const CHANNEL = 'cds_closed_tenants'
const READ_AGAIN_AFTER_MS = 1_000

/** The ids of the closed tenants. */
export async function closedTenants(database: Database): Promise<Set<string>> {
  const rows = await database.selectFrom('tenants').select('tenant_id').where('closed_at', 'is not', null).execute()
  return new Set(rows.map(({ tenant_id }) => tenant_id))
}

/**
 * Keeps the set of closed tenants up to date: by each notification, which arrives with the commit, and by reading all of them
 * when notifications may have been missed.
 */
export async function watchClosedTenants(
  { database }: Pick<Stores, 'database'>,
  closed: Set<string>,
  invalidation: Pick<Invalidation, 'onNotified'>,
  log: Logger,
): Promise<void> {
  let notified = 0

  async function readAll(): Promise<void> {
    const before = notified
    const known = await closedTenants(database)
    // What was read may be older than a notification that arrived meanwhile.
    if (notified !== before) return readAll()
    for (const tenantId of closed) if (!known.has(tenantId)) closed.delete(tenantId)
    for (const tenantId of known) closed.add(tenantId)
  }

  function readAllSoon(): void {
    readAll().catch((error) => {
      log.warn({ err: error }, 'the closed workspaces could not be read; retrying shortly')
      setTimeout(readAllSoon, READ_AGAIN_AFTER_MS).unref()
    })
  }

  await invalidation.onNotified(CHANNEL, (text) => {
    if (text === undefined) return readAllSoon()
    notified++
    const { tenantId, isClosed } = JSON.parse(text) as { tenantId: string; isClosed: boolean }
    if (isClosed) closed.add(tenantId)
    else closed.delete(tenantId)
  })
  await readAll()
}

/** Has every process stop or continue working for a tenant, once the transaction commits. */
async function announceClosed(tx: Tenant, isClosed: boolean): Promise<void> {
  const text = JSON.stringify({ tenantId: tx.id, isClosed })
  await sql`SELECT pg_notify(${CHANNEL}, ${text})`.execute(tx.unrestricted)
  // After it, so that what wakes up finds the tenant closed.
  await announceChange(tx.unrestricted)
}

/** When a tenant was closed, and when it will be deleted. */
export interface Closing {
  closedAt: Date
  deletesAt: Date
}

/** Who closed a tenant, without their name: the receipt of its deletion keeps it. */
export interface ClosedBy {
  kind: Actor['kind']
  id: string | null
}

/** Closes a tenant, or changes when it will be deleted. */
export async function closeTenant(tx: Tenant, { closedAt, deletesAt }: Closing, closedBy: ClosedBy): Promise<void> {
  const tenants = tx.unrestricted.updateTable('tenants').where('tenant_id', '=', tx.id)
  const closed = { closed_at: closedAt, deletes_at: deletesAt, closed_by: JSON.stringify(closedBy) }
  await tenants.set(closed).execute()
  await announceClosed(tx, true)
}

export async function reopenTenant(tx: Tenant): Promise<void> {
  const tenants = tx.unrestricted.updateTable('tenants').where('tenant_id', '=', tx.id)
  await tenants.set({ closed_at: null, deletes_at: null, closed_by: null }).execute()
  await announceClosed(tx, false)
}

/** A tenant's name, when it was closed, and by whom; its row stays locked until the commit. Undefined if it was deleted. */
export async function lockTenant(
  tx: Tenant,
): Promise<{ name: string; closing: Closing | null; closedBy: ClosedBy | null } | undefined> {
  const tenants = tx.unrestricted.selectFrom('tenants').where('tenant_id', '=', tx.id)
  const row = await tenants.select(['name', 'closed_at', 'deletes_at', 'closed_by']).forUpdate().executeTakeFirst()
  return row && { name: row.name, closing: closingOf(row), closedBy: row.closed_by as ClosedBy | null }
}

export function closingOf({ closed_at, deletes_at }: { closed_at: Date | null; deletes_at: Date | null }) {
  return closed_at === null || deletes_at === null ? null : { closedAt: closed_at, deletesAt: deletes_at }
}

/** The closed tenants that are to be deleted by now. */
export async function tenantsToDelete(database: Database, now: Date): Promise<string[]> {
  const due = database.selectFrom('tenants').select('tenant_id').where('deletes_at', '<=', now)
  return (await due.execute()).map(({ tenant_id }) => tenant_id)
}

/** Deletes a tenant's row, and what still refers to it. @returns false if it was deleted before. */
export async function deleteTenant(database: Database, tenantId: string): Promise<boolean> {
  const { numDeletedRows } = await database.deleteFrom('tenants').where('tenant_id', '=', tenantId).executeTakeFirst()
  return numDeletedRows > 0n
}
