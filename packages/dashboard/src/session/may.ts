import { useSuspenseQuery } from '@tanstack/react-query'
import { type Me, meQuery, type Role } from './session.ts'

const RANK: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 }

/** The signed-in person. Only for pages within the shell, which requires a sign-in. */
export function useMe(): Member {
  const { tenant, role, ...me } = useSuspenseQuery(meQuery).data
  if (tenant === null || role === null) throw new Error('This page is for members of a tenant.')
  return { ...me, tenant, role }
}

/** A person who is signed in to a tenant. */
type Member = Me & { tenant: NonNullable<Me['tenant']>; role: Role }

/** Whether the signed-in person has a scope (`contacts:write`); actions without permission are not shown. */
export function useMay(scope: string): boolean {
  return useMe().scopes.includes(scope)
}

/** Whether they have a role or a higher one. */
export function useIsAtLeast(role: Role): boolean {
  return isAtLeast(useMe().role, role)
}

export function isAtLeast(own: Role | null, role: Role): boolean {
  return own !== null && RANK[own] >= RANK[role]
}

/** The roles that a person can assign: an admin cannot make or change owners. */
export function rolesToGive(mine: Role): Role[] {
  if (mine === 'owner') return ['viewer', 'member', 'admin', 'owner']
  return mine === 'admin' ? ['viewer', 'member', 'admin'] : []
}
