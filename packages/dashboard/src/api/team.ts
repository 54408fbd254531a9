import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { TeamAnswer } from '../../../server/src/access/team/schema.ts'
import { get, send } from './client.ts'
import type { Role } from './session.ts'

export type Member = TeamAnswer['members'][number]
export type PendingInvitation = TeamAnswer['invitations'][number]

/** One page of the members, and all invitations. */
export const teamQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['team', page, limit],
    queryFn: ({ signal }) => get<TeamAnswer>('/api/team', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })

/** A link, which the service never shows again; null where only the mail has it. */
export interface InvitationMade {
  invitation: PendingInvitation
  link: string | null
  mailed: boolean
}

export function invite(invitation: { email: string; role: Role }) {
  return send<InvitationMade>('POST', '/api/team', invitation)
}

/** Makes another link; the one before opens nothing any more. */
export function renewInvitation(invitationId: string) {
  return send<InvitationMade>('POST', `/api/invitations/${encodeURIComponent(invitationId)}/link`)
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
