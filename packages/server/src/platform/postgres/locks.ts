import { type Kysely, type RawBuilder, sql } from 'kysely'

/** What is limited per tenant. Adding one takes a lock (`../limits.ts`). */
export type LimitName =
  | 'agents'
  | 'alerts'
  | 'api_keys'
  | 'authorizations'
  | 'computed_properties'
  | 'connections'
  | 'dashboards'
  | 'domains'
  | 'enrichment_providers'
  | 'exports'
  | 'hooks'
  | 'identities'
  | 'imports'
  | 'invitations'
  | 'reports'
  | 'runs'
  | 'segments'
  | 'sources'
  | 'views'
  | 'warehouse_destinations'
  | 'webhook_subscriptions'

/**
 * Everything that is locked by name, because no single row represents it. The arguments after the name distinguish locks
 * of the same name: a tenant, or an object of a tenant.
 */
export type LockName =
  | LimitName
  | 'account'
  | 'action_claims'
  | 'claims'
  | 'company_segments'
  | 'computed_values'
  | 'conversations'
  | 'duplicates'
  | 'enrichment_runs'
  | 'external_id'
  | 'journal'
  | 'migration'
  | 'model_costs'
  | 'proposals'
  | 'sent_mails'
  | 'setup'

/** The number of a lock. The functions of `tables.sql` get it as a parameter, so that only this file derives it. */
export function lockKey(name: LockName, ...of: string[]): RawBuilder<bigint> {
  return hashed(sql`${[name, ...of].join('/')}`)
}

function hashed(name: RawBuilder<unknown>): RawBuilder<bigint> {
  return sql`hashtextextended(${name}, 0)`
}

/** Waits until no other transaction has this lock, and keeps it until the caller's transaction ends. */
export async function lock<Tables>(transaction: Kysely<Tables>, name: LockName, ...of: string[]): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${lockKey(name, ...of)})`.execute(transaction)
}

/** Acquires several locks of a name and a tenant, in an order in which two transactions cannot block each other. */
export async function lockAll<Tables>(
  transaction: Kysely<Tables>,
  name: LockName,
  tenantId: string,
  objects: readonly string[],
): Promise<void> {
  const names = objects.map((object) => [name, tenantId, object].join('/')).sort()
  await sql`SELECT pg_advisory_xact_lock(${hashed(sql`unnest(${names}::text[])`)})`.execute(transaction)
}

/** Runs `work` while its session has a lock; other processes wait. A crash ends the session and releases the lock. */
export async function withSessionLock<T, Tables>(
  db: Kysely<Tables>,
  name: LockName,
  work: () => Promise<T>,
): Promise<T> {
  const key = lockKey(name)
  return db.connection().execute(async (connection) => {
    await sql`SELECT pg_advisory_lock(${key})`.execute(connection)
    try {
      return await work()
    } finally {
      await sql`SELECT pg_advisory_unlock(${key})`.execute(connection)
    }
  })
}
