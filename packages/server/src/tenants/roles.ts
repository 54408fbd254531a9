import { SCOPES, type Scope } from './scopes.ts'

/** What a person may do in a tenant; each may do everything that those after it may. */
export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const

export type Role = (typeof ROLES)[number]

/** What a member may do beyond looking. */
const MEMBER_SCOPES: readonly Scope[] = ['contacts:write', 'companies:write', 'agents:trigger', 'agents:approve']

/** Whether a text names a role. */
export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text)
}

/** Whether `role` may do everything that `needed` may. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed)
}

/** The scopes that a person of this role has on the same routes as an API key. */
export function scopesOf(role: Role): ReadonlySet<string> {
  return SCOPES_OF[role]
}

const all = new Set<string>(SCOPES)
const read = SCOPES.filter((scope) => scope.endsWith(':read'))
const SCOPES_OF: Record<Role, ReadonlySet<string>> = {
  owner: all,
  admin: all,
  member: new Set([...read, ...MEMBER_SCOPES]),
  viewer: new Set(read),
}
