import Type from 'typebox'

/** The roles of a person in a tenant; each includes the ones after it. */
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
