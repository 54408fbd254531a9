import { type AuditEntry, audit } from '../operations/audit.ts'
import type { Database } from '../platform/postgres/database.ts'
import { openTenant, type Tenant } from '../platform/tenant.ts'
import type { Session } from './session.ts'

/**
 * Makes a change of a tenant's configuration and writes it into the audit log, both or neither.
 * @param work makes it through the handle, or through the database where tenants are one among many.
 * @param entry what happened, from what the change answers; never a secret.
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

/** What an entry is about: `about('api_key', 'created', keyId)`. */
export function about(subjectKind: string, verb: string, subjectId: string) {
  return { action: `${subjectKind}.${verb}`, subjectKind, subjectId }
}
