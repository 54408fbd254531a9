import type { Actor } from '../operations/audit.ts'
import { isAtLeast, isRole, type Role } from '../operations/roles.ts'
import { scopesOf } from '../operations/scopes.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Who changes the team: a person, an API key or the operator. */
export interface Caller {
  actor: Actor
  scopes: ReadonlySet<string>
}

/**
 * Reads and locks the role with which a caller changes the team, until the commit: a person who is being removed, or a
 * key that is being revoked, must not create a way back in. An API key has no role and acts as an admin, the operator on
 * the command line as an owner.
 * @returns null if the caller lost its role since the request started.
 */
export async function lockRole(tx: Tenant, { actor }: Caller): Promise<Role | null> {
  if (actor.kind === 'command_line') return 'owner'
  if (actor.kind === 'api_key') {
    const live = tx.db.selectFrom('api_keys').select('key_id').where('key_id', '=', actor.id)
    return (await live.where('revoked_at', 'is', null).forShare().executeTakeFirst()) ? 'admin' : null
  }
  if (actor.kind !== 'user') return null
  const membership = tx.db.selectFrom('tenant_users').select('role').where('user_id', '=', actor.id)
  const row = await membership.forShare().executeTakeFirst()
  return row && isRole(row.role) ? row.role : null
}

/**
 * Checks that a caller may change or remove members and invitations with this role. Only owners manage owners, so an
 * API key cannot.
 * @param callerRole the caller's role.
 * @throws ServiceError 403 `insufficient_role`.
 */
export function requireMayManage(callerRole: Role | null, role: Role): void {
  if (callerRole !== null && isAtLeast(callerRole, 'admin') && (role !== 'owner' || callerRole === 'owner')) return
  const message =
    role === 'owner'
      ? 'Only an owner can add, change or remove owners.'
      : 'Only an owner or an admin can change the team.'
  throw new ServiceError(403, 'insufficient_role', message, { details: [{ path: 'role', message: role }] })
}

/**
 * Checks that a caller may grant a role. Nobody grants more than they have: an API key can grant roles whose scopes it
 * has in full, and never `owner`. Otherwise a key with only `settings:write` could invite its user as an admin.
 * @param callerRole the caller's role.
 * @throws ServiceError 403 `insufficient_role`, or `insufficient_scope` naming a scope that the caller lacks.
 */
export function requireMayGrant({ scopes }: Caller, callerRole: Role | null, role: Role): void {
  requireMayManage(callerRole, role)
  const missing = [...scopesOf(role)].find((scope) => !scopes.has(scope))
  if (missing === undefined) return
  const message = `You cannot grant the role ${role}, because you do not have its scope ${missing}.`
  throw new ServiceError(403, 'insufficient_scope', message, { details: [{ path: 'role', message: missing }] })
}
