import { type AuditEntry, audit } from '../operations/audit.ts'
import type { Database } from '../platform/postgres/database.ts'
import { openTenant, type Tenant } from '../platform/tenant.ts'
import type { Session } from './session.ts'

/**
 * Changes a tenant's configuration and records it in the audit log, in one transaction.
 * @param work makes the change through the tenant's handle, or the database for tables that belong to no tenant.
 * @param entry builds the audit entry from the result; it must not contain secrets.
 */
export function audited<Result>(
  { stores }: Pick<Session, 'stores'>,
  tenantId: string,
  now: Date,
  work: (tx: Tenant, database: Database) => Promise<Result>,
  entry: (result: Result) => Omit<AuditEntry, 'actor'>,
): Promise<Result> {
  return stores.database.transaction().execute(async (database) => {
    const tx = openTenant({ ...stores, database }, tenantId)
    const result = await work(tx, database)
    await audit(tx, { actor: { kind: 'command_line' }, ...entry(result) }, now)
    return result
  })
}

/** Action and subject of an audit entry: `about('api_key', 'created', keyId)`. */
export function about(subjectKind: string, verb: string, subjectId: string) {
  return { action: `${subjectKind}.${verb}`, subjectKind, subjectId }
}
