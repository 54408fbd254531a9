import { createHash } from 'node:crypto'
import type { Context, Operation, Values } from '../operations/declare.ts'
import { scopesAlways, scopesOfSent } from '../operations/further-scopes.ts'
import { perform } from '../operations/perform.ts'
import { inWords, type Scope, scopeDetails } from '../operations/scopes.ts'
import { parseSent } from '../operations/sent-values.ts'
import { ServiceError, validationError } from '../platform/errors.ts'
import { compileBodyCheck } from '../platform/http/body-validation.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { audited } from './audited.ts'
import type { McpCaller } from './caller.ts'
import type { Redactor } from './redaction/redactor.ts'
import type { Tool, ToolCall } from './tool.ts'

/** What tools need to call operations. */
export interface ToolServices {
  operations: ReadonlyMap<string, Operation<object>>
  /** What the operations need. */
  services: object
  clock: Clock
  invalidation: Pick<Invalidation, 'caughtUp'>
  isClosing(): boolean
  /** Hides personal values of a tenant in one call or one answer to a question. */
  openRedactor(tenant: Tenant): Promise<Redactor>
  /** Hides only what models of agents never see. */
  openWithholder(tenant: Tenant): Promise<Redactor>
}

/**
 * Opens a call of a tool for a caller. @param redactor hides personal values; null if the caller may see them.
 */
export function openCall(
  { operations, services, clock, invalidation, isClosing }: Omit<ToolServices, 'openRedactor' | 'openWithholder'>,
  caller: Pick<McpCaller, 'tenant' | 'actor' | 'scopes'>,
  redactor: Redactor | null,
  confirm: ToolCall['confirm'],
): ToolCall {
  const { tenant, actor, scopes } = caller
  const now = clock()
  const warnings: string[] = []
  const find = (name: string) => {
    const operation = operations.get(name)
    if (!operation) throw new Error(`There is no operation ${name}.`)
    return operation
  }
  const requireScope = (...needed: readonly Scope[]) => {
    const missing = needed.filter((scope) => !scopes.has(scope))
    if (missing.length > 0) throw lacksScopes(missing)
  }
  /** The result as a client of the API would receive it. */
  const resultOf = async (name: string, input: Values): Promise<Values> => {
    const operation = audited(find(name))
    requireScope(...scopesOfEvery(operation), ...scopesOfSent(operation, input))
    const context: Omit<Context, 'memory'> = {
      tenant,
      actor,
      scopes,
      now,
      requireScope,
      warn: (text) => void warnings.push(text),
      requireMatch: () => {},
      isGivenUp: isClosing,
      redaction: redactor === null ? undefined : { isHidden: redactor.isPersonal, orderSecret: redactor.orderSecret },
    }
    const result = await perform(operation, { ...services, ...context }, parseSent(operation, input))
    if (operation.audit !== undefined) await invalidation.caughtUp()
    return JSON.parse(JSON.stringify(result)) as Values
  }
  return {
    now,
    confirm,
    isRedacted: redactor !== null,
    warnings,
    may: (name) => isAllowed(find(name), scopes),
    reveal: async (sent, contactId) => (redactor === null ? sent : redactor.reveal(sent, contactId)),
    revealReadable: async (text, contactId) => (redactor === null ? text : redactor.revealReadable(text, contactId)),
    refusePseudonyms: (sent) => redactor?.refuse(sent),
    isHidden: async (entity, property) => redactor !== null && (await redactor.isPersonal(entity, property)),
    hashOf: async (name, input, part) =>
      createHash('sha256')
        .update(JSON.stringify(part(await resultOf(name, input))))
        .digest('base64url'),
    async operate(name, input) {
      const result = await resultOf(name, input)
      if (redactor === null) return result
      const { output, input: asked } = find(name)
      return redactor.redact(result, { properties: output }, { values: input, schema: { properties: asked } })
    },
  }
}

function isAllowed(operation: Operation<object>, scopes: ReadonlySet<string>): boolean {
  return scopesNeeded(operation).every((scope) => scopes.has(scope))
}

/** The scopes that every call of an operation needs. */
function scopesOfEvery(operation: Operation<object>): Scope[] {
  return [...(operation.scope === 'any-key' ? [] : [operation.scope]), ...scopesAlways(operation)]
}

/** The scopes that a call needs that says nothing but what it must: those of contacts, where others can be named. */
export function scopesNeeded(operation: Operation<object>): Scope[] {
  const { also = [] } = operation
  return [...new Set([...scopesOfEvery(operation), ...scopesOfSent({ also }, {})])]
}

/** Whether a caller with these scopes can use a tool. */
export function mayUse({ uses }: Tool, operations: ToolServices['operations'], scopes: ReadonlySet<string>): boolean {
  return uses.every((name) => {
    const operation = operations.get(name)
    return operation !== undefined && isAllowed(operation, scopes)
  })
}

const checks = new WeakMap<Tool, ReturnType<typeof compileBodyCheck>>()

/** Checks the arguments of a call. @throws ServiceError 400 naming each invalid one */
export function checkArguments(tool: Tool, given: unknown): Values {
  let check = checks.get(tool)
  if (!check) {
    check = compileBodyCheck(tool.input)
    checks.set(tool, check)
  }
  const details = check(given ?? {})
  if (details.length > 0) throw validationError(details)
  return (given ?? {}) as Values
}

function lacksScopes(missing: readonly Scope[]): ServiceError {
  const [noun, them] = missing.length === 1 ? ['scope', 'it'] : ['scopes', 'them']
  const message = `This connection lacks the ${noun} ${inWords(missing)}. A person can grant ${them}: connect again and allow ${them}, or use an API key that has ${them}.`
  return new ServiceError(403, 'insufficient_scope', message, { details: scopeDetails(missing) })
}

/**
 * An error as a model reads it: the code, the problem, and what to do. If it quotes a value that a pseudonym stands for, the
 * value is hidden.
 */
export async function errorText(
  { code, message, details = [] }: ServiceError,
  redactor: Redactor | null,
): Promise<string> {
  const more = details.slice(1, 10).map(({ path, message: problem }) => `\n- ${path}: ${problem}`)
  const text = `${code}: ${message}${more.join('')}`
  if (redactor === null || redactor.issued.size === 0) return text
  return redactor.redactText(text)
}
