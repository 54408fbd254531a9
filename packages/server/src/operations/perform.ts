import { pathId } from '../platform/http/responses.ts'
import { repeatOnCollision } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import { audit } from './audit.ts'
import type { Context, Operation, Values } from './declare.ts'

/** Runs on an operation's output: in its transaction, or after it if the operation manages its own. */
export type Finish = (tenant: Tenant, output: Values) => Promise<void>

/** Performs an operation. Its changes and its audit entry are committed together, or neither is. */
export async function perform<Services>(
  operation: Operation<Services>,
  context: Context & Services,
  given: Values,
  finish?: Finish,
): Promise<Values> {
  const input = withIds(operation, given)
  await operation.check?.(context, input)
  const { run, audit: entryOf } = operation
  if (entryOf === undefined || entryOf === 'own') {
    const output = await run(context, input)
    await finish?.(context.tenant, output)
    return output
  }
  const change = async (tenant: Tenant) => {
    const result = await run({ ...context, tenant }, input)
    const entry = entryOf(result, input, context)
    if (entry) await audit(tenant, { actor: context.actor, ...entry }, context.now)
    const output = withoutFacts(operation, result)
    await finish?.(tenant, output)
    return output
  }
  return repeatOnCollision(() => context.tenant.transaction(change))
}

/** The result of an operation without what is for its audit entry alone. */
function withoutFacts({ forAudit = {} }: Pick<Operation, 'forAudit'>, result: Values): Values {
  return Object.fromEntries(Object.entries(result).filter(([name]) => !Object.hasOwn(forAudit, name)))
}

/** The input with the ids of the path as stored. @throws ServiceError 404 for a malformed one */
function withIds({ input }: Pick<Operation, 'input'>, given: Values): Values {
  const ids = Object.entries(input).flatMap(([name, schema]) => {
    const noun = (schema as { 'x-id-of'?: string })['x-id-of']
    return noun === undefined ? [] : [[name, pathId(String(given[name]), noun)]]
  })
  return { ...given, ...Object.fromEntries(ids) }
}
