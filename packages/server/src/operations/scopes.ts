import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../platform/errors.ts'
import { isAtLeast, ROLES, type Role } from './roles.ts'

/** Each scope, and the lowest role that includes it. An API key has the scopes that it was created with. */
const LEAST_ROLE = {
  'contacts:read': 'viewer',
  'contacts:write': 'member',
  'companies:read': 'viewer',
  'companies:write': 'member',
  'events:read': 'viewer',
  'events:write': 'member',
  'segments:read': 'viewer',
  'segments:write': 'member',
  'views:write': 'member',
  'agents:read': 'viewer',
  'agents:write': 'admin',
  'agents:trigger': 'member',
  'agents:approve': 'member',
  'identities:read': 'viewer',
  'identities:write': 'admin',
  'webhooks:read': 'viewer',
  'webhooks:write': 'admin',
  'settings:read': 'viewer',
  'settings:write': 'admin',
  'keys:write': 'admin',
  'audit:read': 'admin',
  'data:export': 'admin',
  'data:erase': 'admin',
} as const satisfies Record<string, Role>

export type Scope = keyof typeof LEAST_ROLE

export const SCOPES = Object.keys(LEAST_ROLE) as Scope[]

/** Whether a text names a scope. */
export function isScope(text: string): text is Scope {
  return Object.hasOwn(LEAST_ROLE, text)
}

/** The scopes that a person of this role has on the same routes as an API key. */
export function scopesOf(role: Role): ReadonlySet<string> {
  return SCOPES_OF[role]
}

const scopesFrom = (role: Role) => new Set(SCOPES.filter((scope) => isAtLeast(role, LEAST_ROLE[scope])))
const SCOPES_OF = Object.fromEntries(ROLES.map((role) => [role, scopesFrom(role)])) as Record<Role, Set<string>>

/** @throws ServiceError 403 naming the scopes that the caller of a request lacks. */
export function requireScopeOf({ scopes, signedIn }: FastifyRequest, ...needed: readonly Scope[]): void {
  const missing = needed.filter((scope) => !scopes.has(scope))
  if (missing.length === 0) return
  const names = inWords(missing)
  if (signedIn) {
    const message = `Your role ${signedIn.membership?.role} does not include ${names}. Ask an owner of the workspace.`
    throw new ServiceError(403, 'insufficient_role', message, { details: scopeDetails(missing) })
  }
  const [noun, them] = missing.length === 1 ? ['scope', 'it'] : ['scopes', 'them']
  const message = `This API key lacks the ${noun} ${names}. Create a key that has ${them}.`
  throw new ServiceError(403, 'insufficient_scope', message, { details: scopeDetails(missing) })
}

/** The details of an error about scopes that a caller lacks. */
export function scopeDetails(missing: readonly Scope[]) {
  return missing.map((scope) => ({ path: 'scope', message: scope }))
}

/** `a, b and c`. */
export function inWords(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
