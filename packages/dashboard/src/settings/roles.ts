import type { Role } from '../api/session.ts'

/** The roles that a person can assign: an admin cannot make or change owners. */
export function rolesToGive(mine: Role): Role[] {
  if (mine === 'owner') return ['viewer', 'member', 'admin', 'owner']
  return mine === 'admin' ? ['viewer', 'member', 'admin'] : []
}
