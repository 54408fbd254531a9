import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../audit/log.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { conflict, notFound, ServiceError, validationError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { isRole, type Role } from './roles.ts'
import { chooseTenant, type SignedIn } from './sessions.ts'
import { requireMayManage } from './team.ts'
import { addMember, createUser, requireEmail } from './users.ts'

/** How long an invitation can be accepted. */
const DAYS = 7
const DAY_MS = 86_400_000
const TOKEN_BYTES = 32
/** That wait to be accepted. */
const INVITATIONS_MAX = 100
/** Distinguishes this lock from others of the same tenant. */
const LIMIT_LOCK = 19

export interface Invitation {
  invitation_id: string
  email: string
  role: Role
  expires_at: string
  token: string
}

interface Dependencies {
  stores: Stores
  secrets: SecretBox
}

/**
 * Invites an address to a tenant. A second invitation of the same address takes the place of the first, whose link ends.
 * @throws ServiceError 400 for a malformed address, 403 when the caller may not, 409 `already_member`, or
 * `too_many_invitations`.
 */
export async function invite(
  { stores, secrets }: Dependencies,
  caller: SignedIn,
  tenantId: string,
  { email: text, role }: { email: string; role: Role },
  now: Date,
): Promise<Invitation> {
  const email = requireEmail(text)
  requireMayManage(caller.membership?.role, role)
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const expiresAt = new Date(now.getTime() + DAYS * DAY_MS)
  const content = {
    role,
    token_hash: hashOf(token),
    token_sealed: secrets.seal(token, invitationPlace(tenantId, email)),
    invited_by: caller.user.id,
    created_at: now,
    expires_at: expiresAt,
  }
  return stores.database.transaction().execute(async (transaction) => {
    const tenant = openTenant({ ...stores, database: transaction }, tenantId)
    // Held: one who is removed at this moment must not leave an invitation behind to come back by.
    const inviter = await tenant.db
      .selectFrom('tenant_users')
      .select('role')
      .where('user_id', '=', caller.user.id)
      .forShare()
      .executeTakeFirst()
    requireMayManage(inviter && isRole(inviter.role) ? inviter.role : undefined, role)
    const member = await transaction
      .selectFrom('users')
      .innerJoin('tenant_users', 'tenant_users.user_id', 'users.id')
      .select('users.id')
      .where('users.email', '=', email)
      .where('tenant_users.tenant_id', '=', tenantId)
      .executeTakeFirst()
    if (member) throw conflict('already_member', `${email} is of this tenant already. Change the role instead.`)
    const known = await tenant.db
      .selectFrom('invitations')
      .select('role')
      .where('email', '=', email)
      .forUpdate()
      .executeTakeFirst()
    if (known && isRole(known.role)) requireMayManage(caller.membership?.role, known.role)
    await requireRoom(tenant, email, now)
    const { invitation_id } = await tenant.db
      .insertInto('invitations')
      .values({ invitation_id: newId(), email, ...content })
      .onConflict((existing) => existing.column('email').doUpdateSet(content))
      .returning('invitation_id')
      .executeTakeFirstOrThrow()
    const actor = { kind: 'user', id: caller.user.id, name: caller.user.name } as const
    const subject = { subjectKind: 'invitation', subjectId: invitation_id }
    await audit(tenant, { actor, action: 'member.invited', ...subject, details: { email, role } }, now)
    return { invitation_id, email, role, expires_at: expiresAt.toISOString(), token }
  })
}

/** Waits for whoever else is inviting, then counts the others. */
async function requireRoom(tx: Tenant, email: string, now: Date): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${tx.id}, ${LIMIT_LOCK}))`.execute(tx.db)
  const { count } = await tx.db
    .selectFrom('invitations')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('email', '<>', email)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  if (Number(count) >= INVITATIONS_MAX) {
    const message = `${INVITATIONS_MAX} invitations wait to be accepted. Withdraw one, or wait until some have ended; each lasts ${DAYS} days.`
    throw conflict('too_many_invitations', message)
  }
}

/** The invitations of a tenant that can still be accepted, newest first. */
export async function listInvitations(
  { stores, secrets }: Dependencies,
  tenantId: string,
  now: Date,
): Promise<Invitation[]> {
  const rows = await openTenant(stores, tenantId)
    .db.selectFrom('invitations')
    .select(['invitation_id', 'email', 'role', 'expires_at', 'token_sealed'])
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('invitation_id', 'desc')
    .execute()
  return rows.flatMap(({ role, token_sealed, expires_at, ...row }) => {
    if (!isRole(role)) return []
    const token = secrets.open(token_sealed, invitationPlace(tenantId, row.email))
    return [{ ...row, role, expires_at: expires_at.toISOString(), token }]
  })
}

/** Ends an invitation. @throws ServiceError 404 for none, 403 when the caller may not. */
export async function withdraw(
  { stores }: Pick<Dependencies, 'stores'>,
  caller: SignedIn,
  tenantId: string,
  invitationId: string,
  now: Date,
): Promise<void> {
  await openTenant(stores, tenantId).transaction(async (tenant) => {
    const row = await tenant.db
      .deleteFrom('invitations')
      .where('invitation_id', '=', invitationId)
      .returning(['email', 'role'])
      .executeTakeFirst()
    if (!row) throw notFound('invitation')
    if (isRole(row.role)) requireMayManage(caller.membership?.role, row.role)
    const actor = { kind: 'user', id: caller.user.id, name: caller.user.name } as const
    const subject = { subjectKind: 'invitation', subjectId: invitationId }
    await audit(tenant, { actor, action: 'invitation.withdrawn', ...subject, details: row }, now)
  })
}

/** What an invitation's link says. @throws ServiceError 404 for one that is unknown, used, withdrawn or too old. */
export async function readInvitation({ database }: Stores, token: string, now: Date) {
  const row = await database
    .selectFrom('invitations')
    .innerJoin('tenants', 'tenants.tenant_id', 'invitations.tenant_id')
    .select(['invitations.email', 'invitations.role', 'tenants.name as tenant_name'])
    .where('token_hash', '=', hashOf(token))
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (!row || !isRole(row.role)) throw notFound('invitation')
  return { ...row, role: row.role }
}

/** What somebody who accepts says: nothing when they are signed in, else who they are. */
export interface Acceptance {
  name?: string
  password?: string
}

/**
 * Lets a person join: one who is signed in with the invited address, or a new one of that address.
 * @param withoutPassword whether a new person may do without, because they sign in at the OpenID provider.
 * @returns the address, and whether a person was made.
 * @throws ServiceError 404 as `readInvitation`; 403 `sign_in_first` when the address has an account, and
 * `invitation_for_another` when another person is signed in; 400 for a new person without a fitting password.
 */
export async function acceptInvitation(
  stores: Stores,
  token: string,
  signedIn: SignedIn | null,
  { name, password, withoutPassword }: Acceptance & { withoutPassword: boolean },
  now: Date,
): Promise<{ email: string; tenantId: string; isNew: boolean }> {
  return stores.database.transaction().execute(async (transaction) => {
    // Deleted first: of two who accept at once, the second finds nothing.
    const invitation = await transaction
      .deleteFrom('invitations')
      .where('token_hash', '=', hashOf(token))
      .where('expires_at', '>', now)
      .returning(['tenant_id', 'email', 'role'])
      .executeTakeFirst()
    if (!invitation || !isRole(invitation.role)) throw notFound('invitation')
    const { tenant_id: tenantId, email, role } = invitation
    const known = await transaction.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst()
    if (signedIn && signedIn.user.id !== known?.id && password === undefined) {
      const message = `This invitation is for ${email}, and you are signed in as ${signedIn.user.email}. Sign out first.`
      throw new ServiceError(403, 'invitation_for_another', message)
    }
    if (known && signedIn?.user.id !== known.id) {
      const message = `There is an account of ${email} already. Sign in to it, and open this link again.`
      throw new ServiceError(403, 'sign_in_first', message)
    }
    if (!known && password === undefined && !withoutPassword) {
      throw validationError([{ path: 'password', message: 'is required: choose one for your new account' }])
    }
    const person = { email, password: password ?? null, ...(name === undefined ? {} : { name }) }
    const userId = known?.id ?? (await createUser(transaction, person, now))
    await addMember(transaction, tenantId, { userId, role }, now)
    if (known && signedIn) await chooseTenant(transaction, signedIn, tenantId, now)
    const tenant = openTenant({ ...stores, database: transaction }, tenantId)
    const actor = { kind: 'user', id: userId, name: signedIn?.user.name ?? name ?? email } as const
    const subject = { subjectKind: 'user', subjectId: userId }
    await audit(tenant, { actor, action: 'member.joined', ...subject, details: { email, role } }, now)
    return { email, tenantId, isNew: !known }
  })
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Where an invitation's token is sealed for. */
export function invitationPlace(tenantId: string, email: string): string {
  return `${tenantId}/invitations/${email}/token_sealed`
}
