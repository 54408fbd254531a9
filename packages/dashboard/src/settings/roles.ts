import type { Role } from '../api/session.ts'

/** The roles that somebody may give and take: an admin has no say over owners. */
export function rolesToGive(mine: Role): Role[] {
  if (mine === 'owner') return ['viewer', 'member', 'admin', 'owner']
  return mine === 'admin' ? ['viewer', 'member', 'admin'] : []
}
