import { audit } from '../operations/audit.ts'
import { isRole } from '../operations/roles.ts'
import { conflict, notFound, ServiceError, validationError } from '../platform/errors.ts'
import type { Database } from '../platform/postgres/database.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { isMember, verifiedAccount } from './accounts.ts'
import { proveAddress } from './address-proof.ts'
import { hashOf } from './invitations.ts'
import { isPersonName } from './names.ts'
import { chooseTenant, type SignedIn } from './sessions.ts'
import { addMember, createUser, createVerifiedUser } from './users.ts'

/**
 * Reads the invitation behind a link. @throws ServiceError 404 for one that is unknown, used, withdrawn or too old.
 */
export async function readInvitation({ database }: Stores, token: string, now: Date) {
  const row = await database
    .selectFrom('invitations')
    .innerJoin('tenants', 'tenants.tenant_id', 'invitations.tenant_id')
    .select(['invitations.email', 'invitations.role', 'invitations.proves_address', 'tenants.name as tenant_name'])
    .where('token_hash', '=', hashOf(token))
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (!row || !isRole(row.role)) throw notFound('invitation')
  return { ...row, role: row.role }
}

/** Input of a person who accepts: empty when they are signed in, else their name and password. */
interface Acceptance {
  name?: string
  password?: string
}

/**
 * Lets a person join: one who is signed in with the invited address, or a new account of it. A link that was only
 * mailed verifies the address, and the person who opens it takes over the unverified accounts.
 *
 * A link that the inviter saw verifies nothing. It creates an account that only this tenant vouches for, whatever
 * accounts the address has elsewhere: its answers are the same with and without. Whoever has a verified account may
 * sign in first and join with that.
 * @param withoutPassword whether a new person needs no password, because they sign in with the OpenID provider.
 * @returns the address, and whether the person must sign in with the password that they have just chosen.
 * @throws ServiceError 404 as `readInvitation`; 409 `already_member`; 403 `invitation_for_another` when another person
 * is signed in, `address_not_verified` when their own account cannot join, and `sign_in_first` when a mailed link's
 * address has a verified account; 400 for a new person without a fitting password; 401 `account_replaced`.
 */
export async function acceptInvitation(
  stores: Stores,
  token: string,
  signedIn: SignedIn | null,
  acceptance: Acceptance & { withoutPassword: boolean },
  now: Date,
): Promise<{ email: string; tenantId: string; isNew: boolean }> {
  return stores.database.transaction().execute(async (database) => {
    const { tenant_id: tenantId, email, role, proves_address: proves } = await takeInvitation(database, token, now)
    await requireNoMember(database, tenantId, email)
    const own = signedIn?.user.email === email ? signedIn : null
    if (signedIn && !own && acceptance.password === undefined) {
      const message = `This invitation is for ${email}, and you are signed in as ${signedIn.user.email}. Sign out first.`
      throw new ServiceError(403, 'invitation_for_another', message)
    }
    const joining = await accountThatJoins(database, own, { email, proves, acceptance })
    const person = { email, proves, tenantId }
    const userId = joining?.user.id ?? (await createInvited({ ...stores, database }, person, acceptance, now))
    await addMember(database, tenantId, { userId, role, isChosen: true }, now)
    if (joining) await chooseTenant(database, joining, tenantId, now)
    const tenant = openTenant({ ...stores, database }, tenantId)
    const name = (joining ? joining.user.name : acceptance.name) ?? email
    const actor = { kind: 'user', id: userId, name } as const
    const subject = { subjectKind: 'user', subjectId: userId }
    await audit(tenant, { actor, action: 'member.joined', ...subject, details: { email, role } }, now)
    return { email, tenantId, isNew: joining === null }
  })
}

/**
 * Deletes the invitation behind a link and returns it. Of two concurrent requests the second finds nothing.
 * @param transaction keeps the tenant until its end.
 */
async function takeInvitation(transaction: Database, token: string, now: Date) {
  // The tenant is locked before the invitation, as when the tenant is deleted with all it has.
  await transaction
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', 'in', (query) =>
      query.selectFrom('invitations').select('tenant_id').where('token_hash', '=', hashOf(token)),
    )
    .forKeyShare()
    .execute()
  const invitation = await transaction
    .deleteFrom('invitations')
    .where('token_hash', '=', hashOf(token))
    .where('expires_at', '>', now)
    .returning(['tenant_id', 'email', 'role', 'proves_address'])
    .executeTakeFirst()
  if (!invitation || !isRole(invitation.role)) throw notFound('invitation')
  return { ...invitation, role: invitation.role }
}

/** @throws ServiceError 409 when the tenant has a member with this address. */
async function requireNoMember(database: Database, tenantId: string, email: string): Promise<void> {
  if (!(await isMember(database, tenantId, email))) return
  throw conflict('already_member', `${email} is of this tenant already. Sign in.`)
}

/**
 * The session that joins as it is; null when a new account does.
 * @param own the session, if it has the invited address.
 * @throws ServiceError 403 when the person must sign in, or has to do something else first.
 */
async function accountThatJoins(
  database: Database,
  own: SignedIn | null,
  { email, proves, acceptance }: { email: string; proves: boolean; acceptance: Acceptance },
): Promise<SignedIn | null> {
  if (own) {
    // Kept until the commit: a verification could replace the account at this moment.
    const account = database.selectFrom('users').select('email_verified').where('id', '=', own.user.id)
    const row = await account.forKeyShare().executeTakeFirst()
    if (!row) throw new ServiceError(401, 'account_replaced', 'This account was replaced. Sign in again.')
    if (row.email_verified) return own
    if (!proves && acceptance.password === undefined) {
      const message = `Only the tenant that created this account vouches for its address ${email}. Choose a password: it creates another account for this tenant.`
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
  // Without a password, whoever signs in at the provider opens the verified account, and never this one.
  if (password === undefined && !(withoutPassword && proves)) {
    throw validationError([{ path: 'password', message: 'is required: choose one for your new account' }])
  }
  const person = { email, password: password ?? null, ...(name === undefined ? {} : { name }) }
  return proves ? createVerifiedUser(stores, person, now) : createUser(stores.database, person, tenantId, now)
}

/**
 * Verifies an address on the OpenID provider's word. The provider says who somebody is, not whether they may come in:
 * an address without an account gets one only while it is invited. The person then accepts while signed in.
 */
export async function proveByProvider(stores: Stores, person: { email: string; name: unknown }, now: Date) {
  const email = person.email.toLowerCase()
  await stores.database.transaction().execute(async (database) => {
    const proved = await proveAddress({ ...stores, database }, email, now)
    if (proved !== null || (await verifiedAccount(database, email)) !== null) return
    const invitations = database.selectFrom('invitations').select('invitation_id').where('email', '=', email)
    if (!(await invitations.where('expires_at', '>', now).limit(1).executeTakeFirst())) return
    const name = typeof person.name === 'string' && isPersonName(person.name) ? { name: person.name } : {}
    await createVerifiedUser({ ...stores, database }, { email, password: null, ...name }, now)
  })
}
