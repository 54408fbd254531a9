import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../audit/log.ts'
import type { MailLimits } from '../config.ts'
import { conflict, notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { isMember } from './accounts.ts'
import { countInvitation } from './mail-limits.ts'
import { isRole, type Role } from './roles.ts'
import type { SignedIn } from './sessions.ts'
import { requireMayManage } from './team.ts'
import { requireEmail } from './users.ts'

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

/** An invitation with its link, which is mailed or shown to its creator; only the digest of the token is stored. */
export interface NewInvitation extends Invitation {
  token: string
}

/** How links reach people here. */
export interface LinkPolicy {
  /** Whether links are only mailed, so that opening one verifies the address. */
  isMailed: boolean
  limits: MailLimits | null
}

/**
 * Invites an address to a tenant. A second invitation of the same address takes the place of the first, whose link ends.
 * @throws ServiceError 400 for a malformed address, 403 when the caller may not, 409 for one who is a member already
 * and `too_many_invitations`, 429 as `countInvitation`.
 */
export async function invite(
  stores: Stores,
  caller: SignedIn,
  tenantId: string,
  { email: text, role }: { email: string; role: Role },
  policy: LinkPolicy,
  now: Date,
): Promise<NewInvitation> {
  const email = requireEmail(text)
  return changeInvitations(stores, caller, tenantId, async ({ tenant, transaction, held }) => {
    requireMayManage(held, role)
    if (await isMember(transaction, tenantId, email)) {
      throw conflict('already_member', `${email} is of this tenant already. Change the role instead.`)
    }
    const known = await tenant.db
      .selectFrom('invitations')
      .select('role')
      .where('email', '=', email)
      .forUpdate()
      .executeTakeFirst()
    if (known && isRole(known.role)) requireMayManage(held, known.role)
    await requireRoom(tenant, email, now)
    await countInvitation(transaction, { email, userId: caller.user.id, tenantId }, policy.limits, now)
    const { token, columns } = newLink(caller, policy, now)
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
 * @throws ServiceError 404 for none, 403 when the caller may not, 409 `too_many_invitations`, 429 as `countInvitation`.
 */
export async function renewInvitation(
  stores: Stores,
  caller: SignedIn,
  tenantId: string,
  invitationId: string,
  policy: LinkPolicy,
  now: Date,
): Promise<NewInvitation> {
  return changeInvitations(stores, caller, tenantId, async ({ tenant, transaction, held }) => {
    const { token, columns } = newLink(caller, policy, now)
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
    await countInvitation(transaction, { email: row.email, userId: caller.user.id, tenantId }, policy.limits, now)
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
function newLink(caller: SignedIn, { isMailed }: LinkPolicy, now: Date) {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const expiresAt = new Date(now.getTime() + DAYS * DAY_MS)
  const columns = { token_hash: hashOf(token), invited_by: caller.user.id, expires_at: expiresAt }
  return { token, columns: { ...columns, proves_address: isMailed } }
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

/** What finds an invitation by its token. */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function entryOf(action: string, { user }: SignedIn, invitationId: string) {
  const actor = { kind: 'user', id: user.id, name: user.name } as const
  return { actor, action, subjectKind: 'invitation', subjectId: invitationId }
}
