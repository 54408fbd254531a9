import { type Closing, closeTenant, lockTenant, reopenTenant } from '../access/closed-tenants.ts'
import { type Caller, lockRole } from '../access/team-authority.ts'
import { conflict, notFound, ServiceError } from '../platform/errors.ts'
import { resumeJobs } from '../platform/jobs/jobs.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'

/** How long a closed tenant can be reopened. */
export const REOPENABLE_DAYS = 7

/**
 * Closes a tenant: from the commit on, only its owners use it. It is deleted after seven days, or at once.
 * @param confirm the tenant's name. @returns what changed: nothing if it was closed already and is not to be deleted earlier.
 * @throws ServiceError 400 `name_not_confirmed`, 403 `insufficient_role`
 */
export async function close(
  tx: Tenant,
  caller: Caller,
  { confirm, isNow }: { confirm: string; isNow: boolean },
  now: Date,
): Promise<Closing & { isNew: boolean; isSooner: boolean }> {
  const { name, closing } = await lockAsOwner(tx, caller)
  if (confirm.trim() !== name) {
    const message = 'confirm is not the name of the workspace. Send its name as it is in the settings.'
    throw new ServiceError(400, 'name_not_confirmed', message)
  }
  const { closedAt, deletesAt } = closing ?? {
    closedAt: now,
    deletesAt: new Date(now.getTime() + REOPENABLE_DAYS * DAY_MS),
  }
  const isSooner = isNow && deletesAt > now
  const changed = { closedAt, deletesAt: isSooner ? now : deletesAt }
  const isNew = closing === null
  const closedBy = { kind: caller.actor.kind, id: 'id' in caller.actor ? caller.actor.id : null }
  if (isNew || isSooner) await closeTenant(tx, changed, closedBy)
  if (isNow) await startDeletion(tx, now)
  return { ...changed, isNew, isSooner }
}

/**
 * Reopens a tenant whose deletion has not started; its work continues where it stopped.
 * @returns whether it was closed. @throws ServiceError 403 `insufficient_role`, 409 `tenant_being_deleted`
 */
export async function reopen(tx: Tenant, caller: Caller): Promise<boolean> {
  const { closing } = await lockAsOwner(tx, caller)
  if (closing === null) return false
  const deletion = await tx.db.selectFrom('tenant_deletions').select('status').executeTakeFirst()
  if (deletion) throw conflict('tenant_being_deleted', 'The workspace is being deleted, so it cannot be reopened.')
  await reopenTenant(tx)
  await resumeJobs(tx.unrestricted, tx.id)
  return true
}

async function lockAsOwner(tx: Tenant, caller: Caller) {
  // First, as every change of the team does.
  const role = await lockRole(tx, caller)
  if (role !== 'owner') {
    const message = 'Only an owner who is signed in can close, reopen or delete the workspace.'
    const details = [{ path: 'role', message: 'owner' }]
    throw new ServiceError(403, 'insufficient_role', message, { details })
  }
  const found = await lockTenant(tx)
  if (!found) throw notFound('tenant')
  return found
}

/** Starts the deletion of a tenant if it is due; from then on, it cannot be reopened. */
export async function startDeletion(tx: Tenant, now: Date): Promise<void> {
  const { closing, closedBy } = (await lockTenant(tx)) ?? {}
  if (!closing || closing.deletesAt > now) return
  const request = { requested_by: JSON.stringify(closedBy), requested_at: closing.closedAt }
  await tx.db
    .insertInto('tenant_deletions')
    .values({ status: 'running', ...request, started_at: now })
    .onConflict((known) => known.columns([]).doNothing())
    .execute()
}
