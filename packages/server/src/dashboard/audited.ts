import type { FastifyRequest } from 'fastify'
import { type AuditEntry, audit } from '../audit/log.ts'
import type { Tenant } from '../platform/tenant.ts'

/**
 * Makes a change and writes it into the audit log, both or neither.
 * @param entry what happened, from what the change answers; null when that is nothing.
 */
export function audited<Result>(
  { tenant, actor }: Pick<FastifyRequest, 'tenant' | 'actor'>,
  now: Date,
  work: (tx: Tenant) => Promise<Result>,
  entry: (result: Result) => Omit<AuditEntry, 'actor'> | null,
): Promise<Result> {
  return tenant.transaction(async (tx) => {
    const result = await work(tx)
    const happened = entry(result)
    if (happened) await audit(tx, { actor, ...happened }, now)
    return result
  })
}
