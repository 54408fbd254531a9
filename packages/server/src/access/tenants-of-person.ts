import { isRole, type Role } from '../operations/roles.ts'
import { notFound } from '../platform/errors.ts'
import type { Stores } from '../platform/tenant.ts'
import { closingOf } from './closed-tenants.ts'

interface TenantOfPerson {
  tenant_id: string
  name: string
  time_zone: string
  role: Role
  /** When it was closed and will be deleted; null while it is open. */
  closed: { closed_at: string; deletes_at: string } | null
}

/** The tenants of a person, sorted by name, and whether the person has a password. */
export async function profileOf(
  database: Stores['database'],
  userId: string,
): Promise<{ tenants: TenantOfPerson[]; hasPassword: boolean }> {
  const rows = await database
    .selectFrom('tenant_users')
    .innerJoin('tenants', 'tenants.tenant_id', 'tenant_users.tenant_id')
    .where('tenant_users.user_id', '=', userId)
    .select(['tenants.tenant_id', 'tenants.name', 'tenants.time_zone', 'tenant_users.role'])
    .select(['tenants.closed_at', 'tenants.deletes_at'])
    .orderBy('tenants.name')
    .orderBy('tenants.tenant_id')
    .execute()
  const password = await database
    .selectFrom('user_accounts')
    .select('id')
    .where('user_id', '=', userId)
    .where('password', 'is not', null)
    .executeTakeFirst()
  const tenants = rows.flatMap(({ tenant_id, name, time_zone, role, ...row }) => {
    const closing = closingOf(row)
    const closed = closing && {
      closed_at: closing.closedAt.toISOString(),
      deletes_at: closing.deletesAt.toISOString(),
    }
    return isRole(role) ? [{ tenant_id, name, time_zone, role, closed }] : []
  })
  return { tenants, hasPassword: password !== undefined }
}

/** A person's role in a tenant. @throws ServiceError 404 for a tenant that is not theirs. */
export async function roleOf(database: Stores['database'], tenantId: string, userId: string): Promise<Role> {
  const row = await database
    .selectFrom('tenant_users')
    .where('tenant_id', '=', tenantId)
    .where('user_id', '=', userId)
    .select('role')
    .executeTakeFirst()
  if (row === undefined || !isRole(row.role)) throw notFound('tenant')
  return row.role
}
