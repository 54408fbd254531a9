import type { Scope } from '../../operations/scopes.ts'

/**
 * The scopes that a person can give to an application. Not among them: what manages the workspace, its keys, its people
 * or its webhooks, and what exports or erases data. A stolen token could otherwise give itself a permanent access.
 */
export const GRANTABLE_SCOPES: readonly Scope[] = [
  'contacts:read',
  'companies:read',
  'events:read',
  'segments:read',
  'agents:read',
  'identities:read',
  'webhooks:read',
  'settings:read',
  'contacts:write',
  'companies:write',
  'events:write',
  'segments:write',
  'agents:write',
  'agents:trigger',
  'agents:approve',
]

/** What an application gets that asks for nothing in particular. */
export const READING_SCOPES: readonly Scope[] = GRANTABLE_SCOPES.filter((scope) => scope.endsWith(':read'))

/** The known scopes of a `scope` parameter, or all reading ones if it has none. Unknown ones are left out. */
export function scopesRequested(parameter: string | undefined): Scope[] {
  const words = new Set((parameter ?? '').split(' '))
  const known = GRANTABLE_SCOPES.filter((scope) => words.has(scope))
  return known.length > 0 ? known : [...READING_SCOPES]
}
