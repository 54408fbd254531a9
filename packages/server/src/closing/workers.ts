import { tenantsToDelete } from '../access/closed-tenants.ts'
import { evenIfClosed } from '../platform/closed-tenants.ts'
import { eachAlone, every, type Repeated } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import { isFree, newClaim, releasedFor, whileClaimed } from '../platform/postgres/lease.ts'
import { openTenant } from '../platform/tenant.ts'
import { startDeletion } from './close.ts'
import { type DeletionDependencies, runDeletion, whereClaimed } from './delete.ts'

/** An owner who deletes the workspace at once waits for it. */
const EVERY_MS = 1_000
/** The pause after a failure: a database may be down. */
const RETRY_AFTER_SECONDS = 5

/**
 * Deletes closed tenants when their time has come. Any number of processes may do so: each deletion is claimed, and one
 * whose process dies continues in another.
 */
export function startDeletionWorkers(dependencies: DeletionDependencies & { log: Logger }): Repeated {
  const { stores, clock, log } = dependencies
  const opened = evenIfClosed(stores)

  async function startDue(): Promise<void> {
    const due = await tenantsToDelete(stores.database, clock())
    const failures = await eachAlone(due, (tenantId) =>
      openTenant(opened, tenantId).transaction((tx) => startDeletion(tx, clock())),
    )
    if (failures.length > 0) throw failures[0]
  }

  async function runNext(): Promise<void> {
    const claimed = await claimDeletion()
    if (claimed === undefined) return
    const { tenant_id: tenantId, claim, status } = claimed
    if (claim === null) throw new Error('A claimed deletion has no claim.')
    const row = whereClaimed(stores.database, tenantId, claim)
    const work = () => runDeletion(openTenant(opened, tenantId), dependencies, { claim, status })
    try {
      await whileClaimed('tenant_deletion', row, work)
    } catch (error) {
      await row.set(releasedFor(RETRY_AFTER_SECONDS)).execute()
      throw error
    }
  }

  async function claimDeletion() {
    const { database } = stores
    const next = database.selectFrom('tenant_deletions').select('tenant_id').where('status', '<>', 'verified')
    return database
      .updateTable('tenant_deletions')
      .set(newClaim('tenant_deletion'))
      .where('tenant_id', 'in', next.where(isFree).orderBy('started_at').limit(1).forUpdate().skipLocked())
      .returning(['tenant_id', 'claim', 'status'])
      .executeTakeFirst()
  }

  return every(EVERY_MS, async () => {
    try {
      await startDue()
      await runNext()
    } catch (error) {
      log.warn({ err: error }, 'a workspace could not be deleted; retrying shortly')
    }
  })
}
