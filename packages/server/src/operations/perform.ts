import { type Actor, audit } from '../audit/log.ts'
import { repeatOnCollision } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Context, Operation, Values } from './declare.ts'

/** Performs an operation. Its changes and its audit entry are committed together, or neither is. */
export async function perform(operation: Operation, context: Context, actor: Actor, input: Values): Promise<Values> {
  await operation.check?.(context, input)
  if (!operation.audit) return operation.run(context, input)
  const change = async (tenant: Tenant) => {
    const output = await operation.run({ ...context, tenant }, input)
    const entry = operation.audit?.(output, input)
    if (entry) await audit(tenant, { actor, ...entry }, context.now)
    return output
  }
  return repeatOnCollision(() => context.tenant.transaction(change))
}
