import Type, { type Static } from 'typebox'
import { isRole, type Role, RoleName } from '../operations/roles.ts'
import { conflict, notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { Id, Timestamp } from '../platform/http/responses.ts'
import { personal } from '../platform/personal.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Stores, Tenant } from '../platform/tenant.ts'
import { accountsWithin, stopVouching } from './accounts.ts'
import { deleteInvitationsOfMember } from './invitations.ts'
import { type Caller, lockRole, requireMayGrant, requireMayManage } from './team-authority.ts'

export const Member = Type.Object(
  {
    user_id: Id,
    email: Type.String(personal('email')),
    name: Type.String(personal('name')),
    role: RoleName,
    joined_at: Timestamp,
  },
  { title: 'Member' },
)
export type Member = Static<typeof Member>

/** One page of a tenant's members, in the order in which they joined, and the total. */
export async function listMembers(
  database: Database,
  tenantId: string,
  page: Page,
): Promise<{ members: Member[]; total: number }> {
  const [rows, counted] = await Promise.all([
    selectMembers(database, tenantId)
      .orderBy('tenant_users.created_at')
      .orderBy('users.id')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    database
      .selectFrom('tenant_users')
      .where('tenant_id', '=', tenantId)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirst(),
  ])
  return { members: rows.flatMap(memberOf), total: Number(counted?.count ?? 0) }
}

/** @throws ServiceError 404 */
export async function readMember(database: Database, tenantId: string, userId: string): Promise<Member> {
  const row = await selectMembers(database, tenantId).where('users.id', '=', userId).executeTakeFirst()
  const [member] = row ? memberOf(row) : []
  if (!member) throw notFound('member')
  return member
}

/** The names of members, for the audit log; of a member without a name, the email. */
export async function namesOfMembers(
  { id: tenantId }: Tenant,
  userIds: readonly string[],
  { database }: Pick<Stores, 'database'>,
): Promise<Map<string, string>> {
  const rows = await selectMembers(database, tenantId).where('users.id', 'in', userIds).execute()
  return new Map(rows.map(({ id, name, email }) => [id, name || email]))
}

/** The addresses of those of some people who are members of a tenant, by their ids. */
export async function emailsOfMembers(
  database: Database,
  tenantId: string,
  userIds: readonly string[],
): Promise<Map<string, string>> {
  if (userIds.length === 0) return new Map()
  const rows = await selectMembers(database, tenantId).where('users.id', 'in', userIds).execute()
  return new Map(rows.map(({ id, email }) => [id, email]))
}

function selectMembers(database: Database, tenantId: string) {
  return database
    .selectFrom('tenant_users')
    .innerJoin('users', 'users.id', 'tenant_users.user_id')
    .where('tenant_users.tenant_id', '=', tenantId)
    .select(['users.id', 'users.email', 'users.name', 'tenant_users.role', 'tenant_users.created_at'])
}

function memberOf(row: { id: string; email: string; name: string; role: string; created_at: Date }): Member[] {
  const { id, email, name, role, created_at } = row
  return isRole(role) ? [{ user_id: id, email, name, role, joined_at: created_at.toISOString() }] : []
}

/**
 * Changes a member's role, which takes effect with their next request. Call it in a transaction.
 * @throws ServiceError 404 if there is no such member, 403 if the caller may not change the team, 409 `last_owner`.
 */
export async function changeRole(
  tx: Tenant,
  caller: Caller,
  { userId, role }: { userId: string; role: Role },
  now: Date,
): Promise<{ member: Member; before: Role }> {
  const { before, callerRole } = await lockTeam(tx, caller, { userId, role })
  requireMayGrant(caller, callerRole, role)
  if (role !== before) {
    await tx.db.updateTable('tenant_users').set({ role }).where('user_id', '=', userId).execute()
    await deleteInvitationsOfMember(tx, caller.actor, { userId, role }, now)
  }
  return { member: await readMember(accountsWithin(tx), tx.id, userId), before }
}

/**
 * Removes a member from a tenant, which takes effect with their next request. Also deletes the account if only this
 * tenant vouched for it. Call it in a transaction.
 * @returns the role that the member had.
 * @throws ServiceError 404 if there is no such member, 403 if the caller may not change the team, 409 `last_owner`.
 */
export async function removeMember(tx: Tenant, caller: Caller, userId: string, now: Date): Promise<Role> {
  const { before } = await lockTeam(tx, caller, { userId, role: null })
  await tx.db.deleteFrom('tenant_users').where('user_id', '=', userId).execute()
  await deleteInvitationsOfMember(tx, caller.actor, { userId, role: null }, now)
  await stopVouching(accountsWithin(tx), tx.id, userId)
  return before
}

/**
 * Locks every membership of the tenant before a change, so that two owners cannot demote each other concurrently. Teams
 * are small.
 * @returns the member's role before the change, and the caller's.
 */
async function lockTeam(
  tx: Tenant,
  caller: Caller,
  { userId, role }: { userId: string; role: Role | null },
): Promise<{ before: Role; callerRole: Role | null }> {
  const rows = await tx.db
    .selectFrom('tenant_users')
    .select(['user_id', 'role'])
    .orderBy('user_id')
    .forUpdate()
    .execute()
  const before = rows.find((row) => row.user_id === userId)?.role
  if (before === undefined || !isRole(before)) throw notFound('member')
  const callerRole = await lockRole(tx, caller)
  requireMayManage(callerRole, before)
  if (before === 'owner' && role !== 'owner' && rows.filter((row) => row.role === 'owner').length === 1) {
    throw conflict('last_owner', 'A tenant needs an owner. Make someone else an owner first.')
  }
  return { before, callerRole }
}
