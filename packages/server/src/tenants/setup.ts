import { sql } from 'kysely'
import { audit } from '../audit/log.ts'
import { conflict } from '../platform/errors.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { createTenant } from './tenants.ts'
import { addMember, createUser } from './users.ts'

/** Any number that no other program would choose: whoever sets the service up first holds it. */
const SETUP_LOCK = 7_300_417_202_612

/** Whether nobody can sign in yet. */
export async function isSetupNeeded(database: Stores['database']): Promise<boolean> {
  return (await database.selectFrom('users').select('id').limit(1).executeTakeFirst()) === undefined
}

/**
 * Creates the first tenant and its owner.
 * @throws ServiceError 409 `setup_done` when there is a user already, so that of two callers at once one gets it.
 */
export async function setUp(
  stores: Stores,
  { tenant_name, ...person }: { name: string; email: string; password: string; tenant_name: string },
  now: Date,
): Promise<string> {
  return stores.database.transaction().execute(async (transaction) => {
    await sql`SELECT pg_advisory_xact_lock(${SETUP_LOCK})`.execute(transaction)
    if (!(await isSetupNeeded(transaction))) {
      throw conflict('setup_done', 'The service is set up already. Sign in, or ask for an invitation.')
    }
    const tenantId = await createTenant(transaction, tenant_name, now)
    // Whoever sets the service up runs it: their word proves the address.
    const userId = await createUser(transaction, person, null, now)
    await addMember(transaction, tenantId, { userId, role: 'owner' }, now)
    const tenant = openTenant({ ...stores, database: transaction }, tenantId)
    const actor = { kind: 'user', id: userId, name: person.name } as const
    await audit(tenant, { actor, action: 'tenant.created', subjectKind: 'tenant', subjectId: tenantId }, now)
    return tenantId
  })
}
