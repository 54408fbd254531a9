import { isRole } from '../operations/roles.ts'
import { tokenHash } from '../platform/crypto/tokens.ts'
import { conflict, notFound, ServiceError, validationError } from '../platform/errors.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Stores } from '../platform/tenant.ts'
import { isMember, verifiedAccount } from './accounts.ts'
import { isPersonName } from './names.ts'
import { chooseTenant, type SignedIn } from './sessions.ts'
import { addMember, createUser, createVerifiedUser } from './users.ts'
import { verifyAddress } from './verify-address.ts'

/**
 * Reads the invitation behind a link. @throws ServiceError 404 if it is unknown, used, deleted or expired.
 */
export async function readInvitationByToken({ database }: Stores, token: string, now: Date) {
  const row = await database
    .selectFrom('invitations')
    .innerJoin('tenants', 'tenants.tenant_id', 'invitations.tenant_id')
    .select(['invitations.email', 'invitations.role', 'invitations.proves_address', 'tenants.name as tenant_name'])
    .where('token_hash', '=', tokenHash(token))
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (!row || !isRole(row.role)) throw notFound('invitation')
  return { ...row, role: row.role }
}

/** What the person who accepts sends: nothing if they are signed in, else their name and password. */
interface Acceptance {
  name?: string
  password?: string
}

/**
 * Adds a person to the tenant: the one signed in with the invited address, or a new account with it. A link that was
 * only mailed verifies the address, and merges its unverified accounts into one.
 *
 * A link that the inviter saw verifies nothing. It creates an account that only this tenant vouches for, and responds
 * the same whether or not the address has accounts elsewhere. A person with a verified account may sign in first and
 * join with that.
 * @param withoutPassword whether a new person needs no password, because they sign in with the OpenID provider.
 * @returns the address, and whether the person must sign in with the password that they have just chosen.
 * @throws ServiceError 404 as `readInvitationByToken`; 409 `already_member`; 403 `invitation_for_another` if another person
 * is signed in, `address_not_verified` if their own account cannot join, and `sign_in_first` if a mailed link's
 * address has a verified account; 400 for a new person without a valid password; 401 `account_replaced`.
 */
export async function acceptInvitation(
  stores: Stores,
  token: string,
  signedIn: SignedIn | null,
  acceptance: Acceptance & { withoutPassword: boolean },
  now: Date,
): Promise<{ email: string; tenantId: string; isNew: boolean }> {
  return stores.database.transaction().execute(async (database) => {
    const { tenant_id: tenantId, email, role, proves_address: proves } = await redeemInvitation(database, token, now)
    await requireNoMember(database, tenantId, email)
    const own = signedIn?.user.email === email ? signedIn : null
    if (signedIn && !own && acceptance.password === undefined) {
      const message = `This invitation is for ${email}, and you are signed in as ${signedIn.user.email}. Sign out first.`
      throw new ServiceError(403, 'invitation_for_another', message)
    }
    const joining = await joiningAccount(database, own, { email, proves, acceptance })
    const person = { email, proves, tenantId }
    const userId = joining?.user.id ?? (await createInvited({ ...stores, database }, person, acceptance, now))
    const name = (joining ? joining.user.name : acceptance.name) ?? email
    const actor = { kind: 'user', id: userId, name } as const
    await addMember({ ...stores, database }, tenantId, { userId, email, role, isChosen: true }, actor, now)
    if (joining) await chooseTenant(database, joining, tenantId, now)
    return { email, tenantId, isNew: joining === null }
  })
}

/**
 * Deletes the invitation behind a link and returns it. Of two concurrent requests, the second finds nothing.
 * @param transaction locks the tenant until it ends.
 */
async function redeemInvitation(transaction: Database, token: string, now: Date) {
  // Locks the tenant before the invitation, in the same order as the deletion of a tenant, to avoid a deadlock.
  await transaction
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', 'in', (query) =>
      query.selectFrom('invitations').select('tenant_id').where('token_hash', '=', tokenHash(token)),
    )
    .forKeyShare()
    .execute()
  const invitation = await transaction
    .deleteFrom('invitations')
    .where('token_hash', '=', tokenHash(token))
    .where('expires_at', '>', now)
    .returning(['tenant_id', 'email', 'role', 'proves_address'])
    .executeTakeFirst()
  if (!invitation || !isRole(invitation.role)) throw notFound('invitation')
  return { ...invitation, role: invitation.role }
}

/** @throws ServiceError 409 if the tenant has a member with this address. */
async function requireNoMember(database: Database, tenantId: string, email: string): Promise<void> {
  if (!(await isMember(database, tenantId, email))) return
  throw conflict('already_member', `${email} is already a member of this workspace. Sign in.`)
}

/**
 * Decides which account joins: the one signed in, or a new one (null).
 * @param own the session, if it has the invited address.
 * @throws ServiceError 403 if the person must sign in first, or their account cannot join.
 */
async function joiningAccount(
  database: Database,
  own: SignedIn | null,
  { email, proves, acceptance }: { email: string; proves: boolean; acceptance: Acceptance },
): Promise<SignedIn | null> {
  if (own) {
    // Locked until the commit, because a concurrent verification could replace the account.
    const account = database.selectFrom('users').select('email_verified').where('id', '=', own.user.id)
    const row = await account.forKeyShare().executeTakeFirst()
    if (!row) throw new ServiceError(401, 'account_replaced', 'This account was replaced. Sign in again.')
    if (row.email_verified) return own
    if (!proves && acceptance.password === undefined) {
      const message = `The address ${email} of this account is not verified outside the workspace that created it. Choose a password to create another account for this workspace.`
      throw new ServiceError(403, 'address_not_verified', message)
    }
  }
  if (proves && (await verifiedAccount(database, email)) !== null) {
    const message = `${email} already has an account. Sign in to it, then open this link again.`
    throw new ServiceError(403, 'sign_in_first', message)
  }
  return null
}

async function createInvited(
  stores: Stores,
  { email, proves, tenantId }: { email: string; proves: boolean; tenantId: string },
  { name, password, withoutPassword }: Acceptance & { withoutPassword: boolean },
  now: Date,
): Promise<string> {
  // An account without a password would be unusable: a sign-in at the provider opens only the verified account.
  if (password === undefined && !(withoutPassword && proves)) {
    throw validationError([{ path: 'password', message: 'is required: choose one for your new account' }])
  }
  const person = { email, password: password ?? null, ...(name === undefined ? {} : { name }) }
  return proves ? createVerifiedUser(stores, person, now) : createUser(stores.database, person, tenantId, now)
}

/**
 * Verifies an address that the OpenID provider has verified. The provider authenticates people but does not authorize
 * them: an address without an account gets one only while it has an invitation. The person then accepts while signed in.
 * @param person their address as `normalizeEmail` writes it.
 */
export async function verifyByProvider(stores: Stores, person: { email: string; name: unknown }, now: Date) {
  const { email } = person
  await stores.database.transaction().execute(async (database) => {
    const verifiedId = await verifyAddress({ ...stores, database }, email, now)
    if (verifiedId !== null || (await verifiedAccount(database, email)) !== null) return
    const invitations = database.selectFrom('invitations').select('invitation_id').where('email', '=', email)
    if (!(await invitations.where('expires_at', '>', now).limit(1).executeTakeFirst())) return
    const name = typeof person.name === 'string' && isPersonName(person.name) ? { name: person.name } : {}
    await createVerifiedUser({ ...stores, database }, { email, password: null, ...name }, now)
  })
}
