import { type Actor, audit } from '../audit/log.ts'
import { conflict, notFound, ServiceError } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import type { Database } from '../platform/postgres/database.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { stopVouching } from './accounts.ts'
import { isAtLeast, isRole, type Role } from './roles.ts'
import type { SignedIn } from './sessions.ts'
import { createTenant } from './tenants.ts'
import { addMember } from './users.ts'

/** The tenants of a person, by name, and whether they have a password. */
export async function profileOf(
  database: Stores['database'],
  userId: string,
): Promise<{ tenants: { tenant_id: string; name: string; role: Role }[]; hasPassword: boolean }> {
  const rows = await database
    .selectFrom('tenant_users')
    .innerJoin('tenants', 'tenants.tenant_id', 'tenant_users.tenant_id')
    .where('tenant_users.user_id', '=', userId)
    .select(['tenants.tenant_id', 'tenants.name', 'tenant_users.role'])
    .orderBy('tenants.name')
    .orderBy('tenants.tenant_id')
    .execute()
  const password = await database
    .selectFrom('user_accounts')
    .select('id')
    .where('user_id', '=', userId)
    .where('password', 'is not', null)
    .executeTakeFirst()
  const tenants = rows.flatMap(({ role, ...tenant }) => (isRole(role) ? [{ ...tenant, role }] : []))
  return { tenants, hasPassword: password !== undefined }
}

/** Creates a tenant whose owner is the person that asks. @returns its id. */
export async function createTenantOf(
  stores: Stores,
  userId: string,
  name: string,
  actor: Actor,
  now: Date,
): Promise<string> {
  return stores.database.transaction().execute(async (transaction) => {
    const tenantId = await createTenant(transaction, name, now)
    await addMember(transaction, tenantId, { userId, role: 'owner' }, now)
    const tenant = openTenant({ ...stores, database: transaction }, tenantId)
    await audit(tenant, { actor, action: 'tenant.created', subjectKind: 'tenant', subjectId: tenantId }, now)
    return tenantId
  })
}

export interface Member {
  user_id: string
  email: string
  name: string
  role: Role
  joined_at: string
}

/** One page of everybody of a tenant, in the order in which they joined; and how many they are. */
export async function listMembers(
  { database }: Stores,
  tenantId: string,
  page: Page,
): Promise<{ members: Member[]; total: number }> {
  const all = database
    .selectFrom('tenant_users')
    .innerJoin('users', 'users.id', 'tenant_users.user_id')
    .where('tenant_users.tenant_id', '=', tenantId)
  const [rows, counted] = await Promise.all([
    all
      .select(['users.id', 'users.email', 'users.name', 'tenant_users.role', 'tenant_users.created_at'])
      .orderBy('tenant_users.created_at')
      .orderBy('users.id')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    all.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirst(),
  ])
  const members = rows.flatMap(({ id, email, name, role, created_at }) =>
    isRole(role) ? [{ user_id: id, email, name, role, joined_at: created_at.toISOString() }] : [],
  )
  return { members, total: Number(counted?.count ?? 0) }
}

/**
 * Gives a member another role, from this commit on.
 * @throws ServiceError 404 for no member, 403 when the caller may not, 409 `last_owner`.
 */
export async function changeRole(
  stores: Stores,
  caller: SignedIn,
  tenantId: string,
  change: { userId: string; role: Role },
  now: Date,
): Promise<void> {
  await changeTeam(stores, caller, tenantId, change, async ({ tenant, actor, before }) => {
    await tenant.db
      .updateTable('tenant_users')
      .set({ role: change.role })
      .where('user_id', '=', change.userId)
      .execute()
    await withdrawInvitationsOf(tenant, actor, change, now)
    const details = { from: before, to: change.role }
    await audit(tenant, { actor, action: 'member.role_changed', ...subject(change.userId), details }, now)
  })
}

/**
 * Takes a person out of a tenant, from this commit on.
 * @throws ServiceError 404 for no member, 403 when the caller may not, 409 `last_owner`.
 */
export async function removeMember(
  stores: Stores,
  caller: SignedIn,
  tenantId: string,
  userId: string,
  now: Date,
): Promise<void> {
  await changeTeam(stores, caller, tenantId, { userId, role: null }, async ({ tenant, transaction, actor, before }) => {
    await tenant.db.deleteFrom('tenant_users').where('user_id', '=', userId).execute()
    await withdrawInvitationsOf(tenant, actor, { userId, role: null }, now)
    await stopVouching(transaction, tenantId, userId)
    await audit(tenant, { actor, action: 'member.removed', ...subject(userId), details: { role: before } }, now)
  })
}

/**
 * Ends the invitations that a person has made and could not make any more: whoever invites has the link, and would come
 * back by it, as whatever it makes of people.
 */
async function withdrawInvitationsOf(
  tenant: Tenant,
  actor: Actor,
  { userId, role }: { userId: string; role: Role | null },
  now: Date,
): Promise<void> {
  if (role === 'owner') return
  const rows = await tenant.db
    .deleteFrom('invitations')
    .where('invited_by', '=', userId)
    .$if(role === 'admin', (query) => query.where('role', '=', 'owner' satisfies Role))
    .returning(['invitation_id', 'email', 'role'])
    .execute()
  for (const { invitation_id, ...details } of rows) {
    const entry = { action: 'invitation.withdrawn', subjectKind: 'invitation', subjectId: invitation_id, details }
    await audit(tenant, { actor, ...entry }, now)
  }
}

const subject = (userId: string) => ({ subjectKind: 'user', subjectId: userId })

/** @throws ServiceError 403 when a person of this role may not make, change or remove one of the other. */
export function requireMayManage(caller: Role | undefined, of: Role): void {
  if (caller !== undefined && isAtLeast(caller, 'admin') && (of !== 'owner' || caller === 'owner')) return
  const message =
    of === 'owner' ? 'Only an owner makes, changes or removes owners.' : 'Only an owner or an admin changes the team.'
  throw new ServiceError(403, 'insufficient_role', message, { details: [{ path: 'role', message: of }] })
}

/**
 * Runs `work` in a transaction that holds every membership of the tenant, so that two owners cannot demote each other
 * at once, and one who has just lost a role cannot still use it. Teams are small.
 */
async function changeTeam(
  stores: Stores,
  { user }: SignedIn,
  tenantId: string,
  { userId, role }: { userId: string; role: Role | null },
  work: (change: { tenant: Tenant; transaction: Database; actor: Actor; before: Role }) => Promise<void>,
): Promise<void> {
  await stores.database.transaction().execute(async (transaction) => {
    const tenant = openTenant({ ...stores, database: transaction }, tenantId)
    const rows = await tenant.db
      .selectFrom('tenant_users')
      .select(['user_id', 'role'])
      .orderBy('user_id')
      .forUpdate()
      .execute()
    const roles = new Map(rows.flatMap((row) => (isRole(row.role) ? [[row.user_id, row.role] as const] : [])))
    const before = roles.get(userId)
    if (before === undefined) throw notFound('member')
    requireMayManage(roles.get(user.id), before)
    if (role !== null) requireMayManage(roles.get(user.id), role)
    const owners = [...roles.values()].filter((each) => each === 'owner').length
    if (before === 'owner' && role !== 'owner' && owners === 1) {
      throw conflict('last_owner', 'A tenant needs an owner. Make somebody else one first.')
    }
    await work({ tenant, transaction, actor: { kind: 'user', id: user.id, name: user.name }, before })
  })
}
