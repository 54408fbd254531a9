import { sql } from 'kysely'
import { type Actor, audit } from '../operations/audit.ts'
import { notFound, validationError } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { isUuid, newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { problemsOfZone } from '../platform/time-zone.ts'
import { type ChosenProperties, changesOf, chosenAfter, type ListChanges } from './chosen-properties.ts'
import { type Closing, closingOf } from './closed-tenants.ts'
import { requireTenantName } from './names.ts'
import { insertMember } from './users.ts'

/**
 * Creates a tenant, with an audit entry, in one transaction, the caller's if there is one.
 * @param ownerId the person who owns it; without one, it has no members yet.
 * @returns its id. @throws ServiceError 400 for a name that is empty, too long or contains a link, or an unknown time zone.
 */
export async function createTenant(
  stores: Stores,
  { name, timeZone = 'UTC', ownerId }: { name: string; timeZone?: string | undefined; ownerId?: string },
  actor: Actor,
  now: Date,
): Promise<string> {
  const tenantId = newId()
  await openTenant(stores, tenantId).transaction(async (tx) => {
    await tx.unrestricted
      .insertInto('tenants')
      .values({
        tenant_id: tenantId,
        name: requireTenantName(name),
        time_zone: requireTimeZone(timeZone),
        created_at: now,
      })
      .execute()
    if (ownerId !== undefined) {
      await insertMember(tx.unrestricted, tenantId, { userId: ownerId, role: 'owner' }, now)
    }
    await audit(tx, { actor, action: 'tenant.created', subjectKind: 'tenant', subjectId: tenantId }, now)
  })
  return tenantId
}

/** @throws ServiceError 400 for a name that is empty, too long or contains a link. */
export async function renameTenant(tx: Tenant, name: string): Promise<void> {
  await tx.unrestricted
    .updateTable('tenants')
    .set({ name: requireTenantName(name) })
    .where('tenant_id', '=', tx.id)
    .execute()
}

/** @returns whether it is another one. @throws ServiceError 400 for an unknown time zone. */
export async function setTimeZone(tx: Tenant, timeZone: string): Promise<boolean> {
  const { numUpdatedRows } = await tx.unrestricted
    .updateTable('tenants')
    .set({ time_zone: requireTimeZone(timeZone) })
    .where('tenant_id', '=', tx.id)
    .where('time_zone', '!=', timeZone)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

function requireTimeZone(zone: string): string {
  const problems = problemsOfZone('time_zone', zone)
  if (problems.length > 0) throw validationError(problems)
  return zone
}

/** @throws ServiceError 404 if the tenant has been deleted. */
export async function readTenant(
  tenant: Tenant,
): Promise<{ name: string; timeZone: string; chosen: ChosenProperties; closing: Closing | null; createdAt: Date }> {
  const row = await tenant.unrestricted
    .selectFrom('tenants')
    .select(['name', 'time_zone as timeZone', 'personal_properties as personal', 'visible_properties as visible'])
    .select(['closed_at', 'deletes_at', 'created_at'])
    .where('tenant_id', '=', tenant.id)
    .executeTakeFirst()
  if (!row) throw notFound('tenant')
  const { name, timeZone, personal, visible, created_at: createdAt } = row
  return { name, timeZone, chosen: { personal, visible }, closing: closingOf(row), createdAt }
}

/**
 * Replaces what the tenant says about its properties: one of the lists, or both. @returns what changed in each
 * @throws ServiceError 400 as `chosenAfter`
 */
export async function chooseProperties(
  tx: Tenant,
  sent: Partial<ChosenProperties>,
): Promise<Record<keyof ChosenProperties, ListChanges>> {
  const before = await tx.unrestricted
    .selectFrom('tenants')
    .select(['personal_properties as personal', 'visible_properties as visible'])
    .where('tenant_id', '=', tx.id)
    .forUpdate()
    .executeTakeFirstOrThrow()
  const after = chosenAfter(before, sent)
  await tx.unrestricted
    .updateTable('tenants')
    .set({ personal_properties: after.personal, visible_properties: after.visible })
    .where('tenant_id', '=', tx.id)
    .execute()
  return changesOf(before, after)
}

export async function hasTenant(database: Database, tenantId: string): Promise<boolean> {
  if (!isUuid(tenantId)) return false
  const tenants = database.selectFrom('tenants').select('tenant_id').where('tenant_id', '=', tenantId)
  return (await tenants.executeTakeFirst()) !== undefined
}

/** @throws ServiceError 404 if there is no such tenant. */
export async function requireTenant(database: Database, tenantId: string): Promise<void> {
  if (!(await hasTenant(database, tenantId))) throw notFound('tenant')
}

/** A condition of a query: the tenant whose id is in this column exists. */
export function tenantExists(column: string) {
  return sql<boolean>`EXISTS (SELECT FROM tenants WHERE tenants.tenant_id = ${sql.ref(column)})`
}

interface ListedTenant {
  tenant_id: string
  name: string
  created_at: string
  closed_at: string | null
  deletes_at: string | null
}

/** One page of the tenants, oldest first, and the total. */
export async function listTenants(database: Database, page: Page): Promise<{ tenants: ListedTenant[]; total: number }> {
  const [rows, counted] = await Promise.all([
    database
      .selectFrom('tenants')
      .select(['tenant_id', 'name', 'created_at', 'closed_at', 'deletes_at'])
      .orderBy('created_at')
      .orderBy('tenant_id')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    database
      .selectFrom('tenants')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ])
  const tenants = rows.map(({ created_at, closed_at, deletes_at, ...row }) => ({
    ...row,
    created_at: created_at.toISOString(),
    closed_at: closed_at?.toISOString() ?? null,
    deletes_at: deletes_at?.toISOString() ?? null,
  }))
  return { tenants, total: counted.count }
}

const NAMED_MAX = 3

/** How many tenants there are beside one, and the names of the oldest. */
export async function tenantsBeside(
  database: Database,
  tenantId: string | null,
): Promise<{ names: string[]; total: number }> {
  const all = database.selectFrom('tenants')
  const others = tenantId !== null && isUuid(tenantId) ? all.where('tenant_id', '!=', tenantId) : all
  const counted = await others.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const oldest = await others.select('name').orderBy('created_at').orderBy('tenant_id').limit(NAMED_MAX).execute()
  return { names: oldest.map(({ name }) => name), total: counted.count }
}
