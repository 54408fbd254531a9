import { randomBytes } from 'node:crypto'
import Type, { type Static } from 'typebox'
import type { MailLimits } from '../config.ts'
import { type Actor, audit, namesIn } from '../operations/audit.ts'
import { isRole, type Role, RoleName } from '../operations/roles.ts'
import { tokenHash } from '../platform/crypto/tokens.ts'
import { conflict, notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { Id, Timestamp } from '../platform/http/responses.ts'
import { newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import { personal } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { accountsWithin, isMember } from './accounts.ts'
import { countInvitation } from './mail-limits.ts'
import { type Caller, lockRole, requireMayGrant, requireMayManage } from './team-authority.ts'
import { requireEmail } from './users.ts'

/** How long an invitation is valid. */
const DAYS = 7
const TOKEN_BYTES = 32
/** Pending invitations per tenant. */
const INVITATIONS_MAX = 100
export const Invitation = Type.Object(
  { invitation_id: Id, email: Type.String(personal('email')), role: RoleName, expires_at: Timestamp },
  { title: 'Invitation' },
)
export type Invitation = Static<typeof Invitation>

/** An invitation with the token of its link; only the token's digest is stored. */
export interface NewInvitation {
  invitation: Invitation
  token: string
}

/** How this service delivers links. */
export interface LinkPolicy {
  /** Whether links are only mailed, so that opening one verifies the address. */
  isMailed: boolean
  limits: MailLimits | null
}

/**
 * Invites an address to a tenant, in the caller's transaction. A second invitation to the same address replaces the first, whose link stops working.
 * @throws ServiceError 400 for a malformed address, 403 if the caller may not invite, 409 `already_member` and
 * `too_many_invitations`, 429 as `countInvitation`.
 */
export async function invite(
  tx: Tenant,
  caller: Caller,
  { email: text, role }: { email: string; role: Role },
  policy: LinkPolicy,
  now: Date,
): Promise<NewInvitation> {
  const email = requireEmail(text)
  const callerRole = await lockRole(tx, caller)
  requireMayGrant(caller, callerRole, role)
  if (await isMember(accountsWithin(tx), tx.id, email)) {
    throw conflict('already_member', `${email} is already a member. Change the role instead.`)
  }
  const known = await tx.db
    .selectFrom('invitations')
    .select('role')
    .where('email', '=', email)
    .forUpdate()
    .executeTakeFirst()
  if (known && isRole(known.role)) requireMayManage(callerRole, known.role)
  await requireInvitationLimit(tx, email, now)
  await countInvitation(accountsWithin(tx), { email, tenantId: tx.id, actor: caller.actor }, policy.limits, now)
  const { token, columns } = newLink(caller, policy, now)
  const { invitation_id } = await tx.db
    .insertInto('invitations')
    .values({ invitation_id: newId(), email, role, created_at: now, ...columns })
    .onConflict((existing) => existing.column('email').doUpdateSet({ role, created_at: now, ...columns }))
    .returning('invitation_id')
    .executeTakeFirstOrThrow()
  return { invitation: { invitation_id, email, role, expires_at: columns.expires_at.toISOString() }, token }
}

/**
 * Creates a new link for an invitation, valid for another week, in the caller's transaction; the previous one stops
 * working.
 * @throws ServiceError 404 if there is none, 403 if the caller may not invite, 409 `too_many_invitations`, 429 as
 * `countInvitation`.
 */
export async function renewInvitation(
  tx: Tenant,
  caller: Caller,
  invitationId: string,
  policy: LinkPolicy,
  now: Date,
): Promise<NewInvitation> {
  const callerRole = await lockRole(tx, caller)
  const { token, columns } = newLink(caller, policy, now)
  const row = await tx.db
    .updateTable('invitations')
    .set(columns)
    .where('invitation_id', '=', invitationId)
    .returning(['email', 'role'])
    .executeTakeFirst()
  if (!row || !isRole(row.role)) throw notFound('invitation')
  const { email, role } = row
  requireMayGrant(caller, callerRole, role)
  // An expired invitation becomes pending again, so it counts.
  await requireInvitationLimit(tx, email, now)
  await countInvitation(accountsWithin(tx), { email, tenantId: tx.id, actor: caller.actor }, policy.limits, now)
  const renewed = { invitation_id: invitationId, email, role }
  return { invitation: { ...renewed, expires_at: columns.expires_at.toISOString() }, token }
}

/** A new token and the columns that depend on it. The caller who created the link is accountable for it. */
function newLink({ actor }: Caller, { isMailed }: LinkPolicy, now: Date) {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const columns = {
    token_hash: tokenHash(token),
    invited_by: actor.kind === 'user' ? actor.id : null,
    invited_by_key: actor.kind === 'api_key' ? actor.id : null,
    expires_at: new Date(now.getTime() + DAYS * DAY_MS),
    proves_address: isMailed,
  }
  return { token, columns }
}

/** Checks the limit of pending invitations to other addresses. @throws ServiceError 409 `too_many_invitations` */
async function requireInvitationLimit(tx: Tenant, email: string, now: Date): Promise<void> {
  const others = tx.db
    .selectFrom('invitations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('email', '<>', email)
    .where('expires_at', '>', now)
  const message = `${INVITATIONS_MAX} invitations are pending. Delete one, or wait until some expire; each lasts ${DAYS} days.`
  await requireFewer(tx, 'invitations', INVITATIONS_MAX, () => others.executeTakeFirstOrThrow(), message)
}

/** One page of a tenant's pending invitations, newest first, and the total. */
export async function listInvitations(
  tenant: Tenant,
  page: Page,
  now: Date,
): Promise<{ invitations: Invitation[]; total: number }> {
  const pending = tenant.db.selectFrom('invitations').where('expires_at', '>', now)
  const [rows, counted] = await Promise.all([
    pending
      .select(INVITATION_COLUMNS)
      .orderBy('created_at', 'desc')
      .orderBy('invitation_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    pending.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirst(),
  ])
  return { invitations: rows.flatMap(toInvitation), total: Number(counted?.count ?? 0) }
}

/** @throws ServiceError 404 if there is none, or it has expired. */
export async function readInvitation(tenant: Tenant, invitationId: string, now: Date): Promise<Invitation> {
  const pending = tenant.db.selectFrom('invitations').select(INVITATION_COLUMNS).where('expires_at', '>', now)
  const row = await pending.where('invitation_id', '=', invitationId).executeTakeFirst()
  const [invitation] = row ? toInvitation(row) : []
  if (!invitation) throw notFound('invitation')
  return invitation
}

const INVITATION_COLUMNS = ['invitation_id', 'email', 'role', 'expires_at'] as const

/** The names of invitations: their addresses, for the audit log. */
export function namesOfInvitations({ db }: Tenant, ids: readonly string[]) {
  return namesIn(
    db.selectFrom('invitations').select(['invitation_id as id', 'email as name']).where('invitation_id', 'in', ids),
  )
}

function toInvitation({
  role,
  expires_at,
  ...row
}: {
  role: string
  expires_at: Date
  invitation_id: string
  email: string
}) {
  return isRole(role) ? [{ ...row, role, expires_at: expires_at.toISOString() }] : []
}

/**
 * Deletes an invitation: its link stops working.
 * @param tx a transaction's handle.
 * @throws ServiceError 404 if there is none, 403 if the caller may not change the team.
 */
export async function deleteInvitation(
  tx: Tenant,
  caller: Caller,
  invitationId: string,
): Promise<Omit<Invitation, 'expires_at'>> {
  const callerRole = await lockRole(tx, caller)
  const row = await tx.db
    .deleteFrom('invitations')
    .where('invitation_id', '=', invitationId)
    .returning(['invitation_id', 'email', 'role'])
    .executeTakeFirst()
  if (!row || !isRole(row.role)) throw notFound('invitation')
  requireMayManage(callerRole, row.role)
  return { ...row, role: row.role }
}

/**
 * Deletes the invitations that a person created but could no longer create: an inviter may have seen the link, and
 * could return through it with the role that it grants.
 * @param member with the new role; a null role for a member who is removed.
 */
export async function deleteInvitationsOfMember(
  tx: Tenant,
  actor: Actor,
  { userId, role }: { userId: string; role: Role | null },
  now: Date,
): Promise<void> {
  if (role === 'owner') return
  const rows = await tx.db
    .deleteFrom('invitations')
    .where('invited_by', '=', userId)
    .$if(role === 'admin', (query) => query.where('role', '=', 'owner' satisfies Role))
    .returning(['invitation_id', 'email', 'role'])
    .execute()
  await auditDeletion(tx, actor, rows, now)
}

/** Deletes the invitations of an API key that is revoked, for the same reason. */
export async function deleteInvitationsOfKey(tx: Tenant, actor: Actor, keyId: string, now: Date): Promise<void> {
  const invitations = tx.db.deleteFrom('invitations').where('invited_by_key', '=', keyId)
  await auditDeletion(tx, actor, await invitations.returning(['invitation_id', 'email', 'role']).execute(), now)
}

async function auditDeletion(tx: Tenant, actor: Actor, rows: Named[], now: Date): Promise<void> {
  for (const row of rows) await audit(tx, { actor, ...invitationEntry('invitation.deleted', row) }, now)
}

/** The fields of an invitation that the audit log records. */
export interface Named {
  invitation_id: string
  email: string
  role: string
}

export function invitationEntry(action: string, { invitation_id, email, role }: Named) {
  return { action, subjectKind: 'invitation', subjectId: invitation_id, details: { email, role } }
}
