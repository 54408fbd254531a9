import { audit } from '../audit/log.ts'
import { newId } from '../platform/ids.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'

/**
 * The inviter could accept an invitation whose link they saw. So an account created from such a link is unverified:
 * only the inviting tenant vouches for it. Call this at the first verification, by mail, the OpenID provider or the
 * operator.
 *
 * A new account takes the place of the unverified one, with its name and memberships and nothing else. Passwords,
 * sessions, second factors, trusted devices and links reference the old one and are deleted with it. Requests in
 * progress for it fail too: a session cannot be created for a deleted account. @param stores the transaction's
 * database. @returns the id of the new account; null when there is no unverified account of this address.
 */
export async function proveAddress(stores: Stores, email: string, now: Date): Promise<string | null> {
  const { database } = stores
  const unverified = database.selectFrom('users').where('email', '=', email).where('email_verified', '=', false)
  const found = await unverified.select('id').executeTakeFirst()
  if (!found) return null
  // Memberships before the account: invitations lock them in that order, so another order could deadlock.
  await database.selectFrom('tenant_users').select('role').where('user_id', '=', found.id).forUpdate().execute()
  const before = await unverified.select(['id', 'name', 'created_at']).forUpdate().executeTakeFirst()
  if (!before) return null
  const { id, name, created_at } = before
  const memberships = await database
    .selectFrom('tenant_users')
    .select(['tenant_id', 'role', 'created_at'])
    .where('user_id', '=', id)
    .execute()
  // Otherwise the previous holder of the account could return through an invitation that they sent.
  const invitations = await database
    .deleteFrom('invitations')
    .where('invited_by', '=', id)
    .returning(['tenant_id', 'invitation_id', 'email', 'role'])
    .execute()
  await database.deleteFrom('user_verifications').where('value', '=', id).execute()
  await database.deleteFrom('users').where('id', '=', id).execute()

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
    const tenant = openTenant(stores, membership.tenant_id)
    const entry = { action: 'member.address_verified', subjectKind: 'user', subjectId: userId, details: { email } }
    await audit(tenant, { actor, ...entry }, now)
  }
  for (const { tenant_id, invitation_id, ...details } of invitations) {
    const entry = { action: 'invitation.withdrawn', subjectKind: 'invitation', subjectId: invitation_id, details }
    await audit(openTenant(stores, tenant_id), { actor, ...entry }, now)
  }
  return userId
}
