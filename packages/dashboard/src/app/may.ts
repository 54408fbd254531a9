import { useSuspenseQuery } from '@tanstack/react-query'
import { type Me, meQuery, type Role } from '../api/session.ts'

const RANK: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 }

/** Who is signed in. Only on pages within the shell, which has made sure that somebody is. */
export function useMe(): Member {
  const { tenant, role, ...me } = useSuspenseQuery(meQuery).data
  if (tenant === null || role === null) throw new Error('This page is for members of a tenant.')
  return { ...me, tenant, role }
}

/** Somebody who is signed in and works in a tenant. */
type Member = Me & { tenant: NonNullable<Me['tenant']>; role: Role }

/** Whether the signed-in person has a scope (`contacts:write`); what they may not do is not offered to them. */
export function useMay(scope: string): boolean {
  return useMe().scopes.includes(scope)
}

/** Whether they have at least a role. */
export function useIsAtLeast(role: Role): boolean {
  return isAtLeast(useMe().role, role)
}

export function isAtLeast(own: Role | null, role: Role): boolean {
  return own !== null && RANK[own] >= RANK[role]
}
