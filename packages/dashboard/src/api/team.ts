import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { TeamAnswer } from '../../../server/src/dashboard/team/schema.ts'
import { get, send } from './client.ts'
import type { Role } from './session.ts'

export type Member = TeamAnswer['members'][number]
export type PendingInvitation = TeamAnswer['invitations'][number]

export const teamQuery = queryOptions({
  queryKey: ['team'],
  queryFn: ({ signal }) => get<TeamAnswer>('/api/team', {}, signal),
})

/** @returns the link, and whether it was mailed. */
export function invite(invitation: { email: string; role: Role }) {
  return send<{ invitation: PendingInvitation; mailed: boolean }>('POST', '/api/team', invitation)
}

export function changeMemberRole(userId: string, role: Role) {
  return send('PATCH', `/api/team/${encodeURIComponent(userId)}`, { role })
}

export function removeMember(userId: string) {
  return send('DELETE', `/api/team/${encodeURIComponent(userId)}`)
}

export function withdrawInvitation(invitationId: string) {
  return send('DELETE', `/api/invitations/${encodeURIComponent(invitationId)}`)
}

export function refreshTeam(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['team'] })
}
