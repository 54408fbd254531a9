import Type from 'typebox'

/** What a person may do in a tenant; each may do everything that those after it may. */
export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const

export type Role = (typeof ROLES)[number]

export const RoleName = Type.Enum([...ROLES])

/** Whether a text names a role. */
export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text)
}

/** Whether `role` may do everything that `needed` may. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed)
}
