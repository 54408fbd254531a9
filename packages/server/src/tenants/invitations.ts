import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../audit/log.ts'
import { conflict, notFound, ServiceError, validationError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
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

/** An invitation as the team sees it. */
export interface Invitation {
  invitation_id: string
  email: string
  role: Role
  expires_at: string
}

/** One whose link is shown, to whoever made it and never again: only the digest of the token is kept. */
export interface NewInvitation extends Invitation {
  token: string
}

/**
 * Invites an address to a tenant. A second invitation of the same address takes the place of the first, whose link ends.
 * @throws ServiceError 400 for a malformed address, 403 when the caller may not, 409 for one who is a member already
 * and `too_many_invitations`.
 */
export async function invite(
  stores: Stores,
  caller: SignedIn,
  tenantId: string,
  { email: text, role }: { email: string; role: Role },
  now: Date,
): Promise<NewInvitation> {
  const email = requireEmail(text)
  return changeInvitations(stores, caller, tenantId, async ({ tenant, transaction, held }) => {
    requireMayManage(held, role)
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
    if (known && isRole(known.role)) requireMayManage(held, known.role)
    await requireRoom(tenant, email, now)
    const { token, columns } = newLink(caller, now)
    const { invitation_id } = await tenant.db
      .insertInto('invitations')
      .values({ invitation_id: newId(), email, role, created_at: now, ...columns })
      .onConflict((existing) => existing.column('email').doUpdateSet({ role, created_at: now, ...columns }))
      .returning('invitation_id')
      .executeTakeFirstOrThrow()
    await audit(tenant, { ...entryOf('member.invited', caller, invitation_id), details: { email, role } }, now)
    return { invitation_id, email, role, expires_at: columns.expires_at.toISOString(), token }
  })
}

/**
 * Makes a new link of an invitation, for another week; the one before ends.
 * @throws ServiceError 404 for none, 403 when the caller may not, 409 `too_many_invitations`.
 */
export async function renewInvitation(
  stores: Stores,
  caller: SignedIn,
  tenantId: string,
  invitationId: string,
  now: Date,
): Promise<NewInvitation> {
  return changeInvitations(stores, caller, tenantId, async ({ tenant, held }) => {
    const { token, columns } = newLink(caller, now)
    const row = await tenant.db
      .updateTable('invitations')
      .set(columns)
      .where('invitation_id', '=', invitationId)
      .returning(['email', 'role'])
      .executeTakeFirst()
    if (!row || !isRole(row.role)) throw notFound('invitation')
    requireMayManage(held, row.role)
    // One that has ended waits again.
    await requireRoom(tenant, row.email, now)
    const invitation = { email: row.email, role: row.role }
    await audit(tenant, { ...entryOf('invitation.renewed', caller, invitationId), details: invitation }, now)
    return { invitation_id: invitationId, ...invitation, expires_at: columns.expires_at.toISOString(), token }
  })
}

interface Held {
  tenant: Tenant
  transaction: Database
  /** The caller's role, which stays what it is until the commit. */
  held: Role | undefined
}

/** Runs `work` while the caller's role is held: one who is removed at this moment must not leave a way back behind. */
async function changeInvitations<T>(
  stores: Stores,
  caller: SignedIn,
  tenantId: string,
  work: (held: Held) => Promise<T>,
): Promise<T> {
  return stores.database.transaction().execute(async (transaction) => {
    const tenant = openTenant({ ...stores, database: transaction }, tenantId)
    const row = await tenant.db
      .selectFrom('tenant_users')
      .select('role')
      .where('user_id', '=', caller.user.id)
      .forShare()
      .executeTakeFirst()
    return work({ tenant, transaction, held: row && isRole(row.role) ? row.role : undefined })
  })
}

/** A token, and what an invitation keeps of it. Whoever made it is answerable for it. */
function newLink(caller: SignedIn, now: Date) {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const expiresAt = new Date(now.getTime() + DAYS * DAY_MS)
  return { token, columns: { token_hash: hashOf(token), invited_by: caller.user.id, expires_at: expiresAt } }
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
export async function listInvitations(stores: Stores, tenantId: string, now: Date): Promise<Invitation[]> {
  const rows = await openTenant(stores, tenantId)
    .db.selectFrom('invitations')
    .select(['invitation_id', 'email', 'role', 'expires_at'])
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('invitation_id', 'desc')
    .execute()
  return rows.flatMap(({ role, expires_at, ...row }) =>
    isRole(role) ? [{ ...row, role, expires_at: expires_at.toISOString() }] : [],
  )
}

/** Ends an invitation. @throws ServiceError 404 for none, 403 when the caller may not. */
export async function withdraw(
  stores: Stores,
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
    await audit(tenant, { ...entryOf('invitation.withdrawn', caller, invitationId), details: row }, now)
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

function entryOf(action: string, { user }: SignedIn, invitationId: string) {
  const actor = { kind: 'user', id: user.id, name: user.name } as const
  return { actor, action, subjectKind: 'invitation', subjectId: invitationId }
}
