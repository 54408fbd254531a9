import { audit } from '../operations/audit.ts'
import { evenIfClosed } from '../platform/closed-tenants.ts'
import { newId } from '../platform/ids.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { lockAddress, verifiedAccount } from './accounts.ts'

/**
 * Verifies an email address. An inviter who saw an invitation's link could accept it themselves, so an account created
 * from such a link is unverified: only the inviting tenant vouches for it, and every tenant that invites the address may
 * have one. Call this at the first verification, by mail, the OpenID provider or the operator.
 *
 * One new account replaces all unverified ones. It gets the name of the first and the memberships of all, and nothing
 * else. Passwords, sessions, second factors, trusted devices and links reference the old accounts and are deleted with
 * them. Requests in progress for them fail too: a session cannot be created for a deleted account.
 *
 * Once there is a verified account, later unverified ones are not merged into it: the tenant that created one would
 * otherwise learn from the replacement that the address has an account elsewhere.
 * @param stores the transaction's database; the address is locked until the transaction ends.
 * @returns the id of the new account; null if the address has a verified account, or no account at all.
 */
export async function verifyAddress(stores: Stores, email: string, now: Date): Promise<string | null> {
  const { database } = stores
  await lockAddress(database, email)
  if ((await verifiedAccount(database, email)) !== null) return null
  const unverified = database.selectFrom('users').where('email', '=', email)
  const found = (await unverified.select('id').execute()).map(({ id }) => id)
  if (found.length === 0) return null
  // Locks memberships before accounts, as invitations do: another order could deadlock.
  const locked = database.selectFrom('tenant_users').select('role').where('user_id', 'in', found)
  await locked.orderBy('tenant_id').orderBy('user_id').forUpdate().execute()
  const before = await unverified
    .select(['id', 'name', 'created_at'])
    .orderBy('created_at')
    .orderBy('id')
    .forUpdate()
    .execute()
  const [oldest] = before
  if (!oldest) return null
  const { name, created_at } = oldest
  const ids = before.map(({ id }) => id)
  const memberships = await database
    .selectFrom('tenant_users')
    .distinctOn('tenant_id')
    .select(['tenant_id', 'role', 'created_at'])
    .where('user_id', 'in', ids)
    .orderBy('tenant_id')
    .orderBy('created_at')
    .execute()
  // Otherwise the previous user of the account could return through an invitation that they sent.
  const invitations = await database
    .deleteFrom('invitations')
    .where('invited_by', 'in', ids)
    .returning(['tenant_id', 'invitation_id', 'email', 'role'])
    .execute()
  await database.deleteFrom('user_verifications').where('value', 'in', ids).execute()
  await database.deleteFrom('users').where('id', 'in', ids).execute()

  const userId = newId()
  await database
    .insertInto('users')
    .values({ id: userId, email, name, email_verified: true, created_at, updated_at: now })
    .execute()
  const actor = { kind: 'user', id: userId, name } as const
  for (const membership of memberships) {
    await database
      .insertInto('tenant_users')
      .values({ ...membership, user_id: userId })
      .execute()
    const tenant = openTenant(evenIfClosed(stores), membership.tenant_id)
    const entry = { action: 'member.address_verified', subjectKind: 'user', subjectId: userId, details: { email } }
    await audit(tenant, { actor, ...entry }, now)
  }
  for (const { tenant_id, invitation_id, ...details } of invitations) {
    const entry = { action: 'invitation.deleted', subjectKind: 'invitation', subjectId: invitation_id, details }
    await audit(openTenant(evenIfClosed(stores), tenant_id), { actor, ...entry }, now)
  }
  return userId
}
