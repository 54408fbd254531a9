import { ServiceError } from '../platform/errors.ts'
import { pathId } from '../platform/http/responses.ts'
import { changeRecords, changeTogether } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import { audit } from './audit.ts'
import type { Context, Operation, Values } from './declare.ts'
import { requireScopesOfRecord } from './further-scopes.ts'

/** What a response consists of: an operation's output, and the warnings beside it. */
export interface ResponseContent {
  output: Values
  warnings: readonly string[]
}

/** What a request with an Idempotency-Key keeps for retries. */
export interface Memory extends Readonly<Context['memory']> {
  /**
   * Stores the response, in the transaction of the change if there is one.
   * @param isFinal false if more follows the commit: then retries get this response only if the first request ends
   * before `finish` or `release`.
   */
  store(tenant: Tenant, response: ResponseContent, isFinal: boolean): Promise<void>
  /** Replaces a response that was not final. */
  finish(response: ResponseContent): Promise<void>
  /** Deletes a response that was not final, because the request was refused: it can be sent again with the same key. */
  release(): Promise<void>
}

/** For requests without an Idempotency-Key. */
export const NO_MEMORY: Memory = {
  hasKey: false,
  remember: (determine) => determine(),
  store: async () => {},
  finish: async () => {},
  release: async () => {},
}

/** Performs an operation. Its changes, its audit entry and the response for retries are committed together, or none. */
export async function perform<Services>(
  operation: Operation<Services>,
  caller: Omit<Context, 'memory'> & Services,
  given: Values,
  memory: Memory = NO_MEMORY,
): Promise<Values> {
  const input = withIds(operation, given)
  const checkWarnings: string[] = []
  const context = { ...caller, memory, warn: (text: string) => void checkWarnings.push(text) }
  await requireScopesOfRecord(operation, context, input)
  const checked = await operation.check?.(context, input)
  const { run, audit: entryOf, after } = operation
  const change = async (tenant: Tenant) => {
    // Each attempt starts from the warnings of `check`: those of an attempt that collided are dropped.
    const warnings = [...checkWarnings]
    const warn = (text: string) => void warnings.push(text)
    const result = await run({ ...context, tenant, warn }, input, checked)
    const entry = typeof entryOf === 'function' ? entryOf(result, input, context) : null
    if (entry) await audit(tenant, { actor: context.actor, ...entry }, context.now)
    const response = { output: withoutForAudit(operation, result), warnings }
    await memory.store(tenant, response, after === undefined)
    return { result, response }
  }
  const { result, response } = await transactionFor(operation, memory)(caller.tenant, change)
  for (const warning of response.warnings) caller.warn(warning)
  if (after === undefined) return response.output
  const changed = await after({ ...context, ...caller }, result, input).catch(async (error: unknown) => {
    // If this fails too, a retry gets the committed response.
    if (isRefusal(error)) await memory.release().catch(() => {})
    throw error
  })
  const output = withoutForAudit(operation, { ...result, ...changed })
  await memory.finish({ ...response, output })
  return output
}

/** Whether an error refuses the request. After any other, a retry must not repeat the committed change. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.status < 500
}

/** How an operation changes the databases: audited changes, nearly all of settings, do not queue behind records. */
function transactionFor({ audit: entryOf, isAtomic }: Pick<Operation, 'audit' | 'isAtomic'>, { hasKey }: Memory) {
  if (typeof entryOf === 'function') return changeTogether
  return isAtomic && hasKey ? changeRecords : withoutTransaction
}

const withoutTransaction: typeof changeTogether = (tenant, work) => work(tenant)

/** An operation's result without what only its audit entry or `after` needs. */
function withoutForAudit({ forAudit = {} }: Pick<Operation, 'forAudit'>, result: Values): Values {
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
