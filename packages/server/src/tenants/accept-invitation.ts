import { audit } from '../audit/log.ts'
import { notFound, ServiceError, validationError } from '../platform/errors.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { hashOf } from './invitations.ts'
import { isRole } from './roles.ts'
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
 * Lets a person join: one who is signed in with the invited address, or a new one of that address. A link that was
 * only mailed verifies the address, and the person who opens it takes over an unverified account. A link that the
 * inviter saw verifies nothing: an account that another tenant vouches for can join with it only once its address is
 * verified. @param withoutPassword whether a new person needs no password, because they sign in with the OpenID
 * provider. @returns the address, and whether the person must sign in with the password that they have just chosen.
 * @throws ServiceError 404 as `readInvitation`; 403 `sign_in_first` when the address has an account,
 * `address_not_verified` when nothing proves that it is theirs, and `invitation_for_another` when another person is
 * signed in; 400 for a new person without a fitting password.
 */
export async function acceptInvitation(
  stores: Stores,
  token: string,
  signedIn: SignedIn | null,
  acceptance: Acceptance & { withoutPassword: boolean },
  now: Date,
): Promise<{ email: string; tenantId: string; isNew: boolean }> {
  return stores.database.transaction().execute(async (database) => {
    // Deleted first, so that of two concurrent requests the second finds nothing.
    const invitation = await database
      .deleteFrom('invitations')
      .where('token_hash', '=', hashOf(token))
      .where('expires_at', '>', now)
      .returning(['tenant_id', 'email', 'role', 'proves_address'])
      .executeTakeFirst()
    if (!invitation || !isRole(invitation.role)) throw notFound('invitation')
    const { tenant_id: tenantId, email, role, proves_address: proves } = invitation
    const account = await database
      .selectFrom('users')
      .select(['id', 'email_verified', 'vouched_by'])
      .where('email', '=', email)
      .executeTakeFirst()
    if (signedIn && signedIn.user.id !== account?.id && acceptance.password === undefined) {
      const message = `This invitation is for ${email}, and you are signed in as ${signedIn.user.email}. Sign out first.`
      throw new ServiceError(403, 'invitation_for_another', message)
    }
    const isNew = !account || (proves && !account.email_verified)
    if (!isNew) requireOwnAccount(account, signedIn, { email, tenantId })
    const person = { email, proves, tenantId }
    const userId = isNew ? await createInvited({ ...stores, database }, person, acceptance, now) : account.id
    await addMember(database, tenantId, { userId, role, isChosen: true }, now)
    if (!isNew && signedIn) await chooseTenant(database, signedIn, tenantId, now)
    const tenant = openTenant({ ...stores, database }, tenantId)
    const name = (isNew ? acceptance.name : signedIn?.user.name) ?? email
    const actor = { kind: 'user', id: userId, name } as const
    const subject = { subjectKind: 'user', subjectId: userId }
    await audit(tenant, { actor, action: 'member.joined', ...subject, details: { email, role } }, now)
    return { email, tenantId, isNew }
  })
}

/** @throws ServiceError 403 when the account of an invited address may not join as it is. */
function requireOwnAccount(
  account: { id: string; email_verified: boolean; vouched_by: string | null },
  signedIn: SignedIn | null,
  { email, tenantId }: { email: string; tenantId: string },
): void {
  if (signedIn?.user.id !== account.id) {
    const message = `${email} already has an account. Sign in to it, then open this link again.`
    throw new ServiceError(403, 'sign_in_first', message)
  }
  if (account.email_verified || account.vouched_by === tenantId) return
  const message = `Your address ${email} is not verified. Sign in with your organisation's provider, or set a new password with a link that you get by mail or from the operator of this service. Then open this invitation again.`
  throw new ServiceError(403, 'address_not_verified', message)
}

async function createInvited(
  stores: Stores,
  { email, proves, tenantId }: { email: string; proves: boolean; tenantId: string },
  { name, password, withoutPassword }: Acceptance & { withoutPassword: boolean },
  now: Date,
): Promise<string> {
  if (password === undefined && !withoutPassword) {
    throw validationError([{ path: 'password', message: 'is required: choose one for your new account' }])
  }
  const person = { email, password: password ?? null, ...(name === undefined ? {} : { name }) }
  return proves ? createVerifiedUser(stores, person, now) : createUser(stores.database, person, tenantId, now)
}
