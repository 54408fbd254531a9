import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { CreatedInvitation as InvitationMadeSchema } from '../../../server/src/access/invitation-operations.ts'
import type { Invitation } from '../../../server/src/access/invitations.ts'
import type { Member } from '../../../server/src/access/members.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, send } from './client.ts'
import type { Role } from './session.ts'

export type { Invitation, Member }

/** An invitation with its link, which the service never shows again; null if the link was only mailed. */
export type InvitationMade = Type.Static<Type.TObject<typeof InvitationMadeSchema>>

/** A tenant's limit of pending invitations. */
const INVITATIONS_MAX = 100

/** Rows per page. */
export const MEMBERS_LENGTH = 50

export const membersQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['team', 'members', page, limit],
    queryFn: ({ signal }) =>
      get<{ members: Member[]; pagination: Type.Static<typeof Pagination> }>('/v1/members', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })

export const invitationsQuery = queryOptions({
  queryKey: ['team', 'invitations'],
  queryFn: ({ signal }) => get<{ invitations: Invitation[] }>('/v1/invitations', { limit: INVITATIONS_MAX }, signal),
  select: ({ invitations }) => invitations,
})

export function invite(invitation: { email: string; role: Role }) {
  return send<InvitationMade>('POST', '/v1/invitations', invitation)
}

/** Creates a new link; the previous one stops working. */
export function renewInvitation(invitationId: string) {
  return send<InvitationMade>('POST', `/v1/invitations/${encodeURIComponent(invitationId)}/renew`)
}

export function changeMemberRole(userId: string, role: Role) {
  return send('PATCH', `/v1/members/${encodeURIComponent(userId)}`, { role })
}

export function removeMember(userId: string) {
  return send('DELETE', `/v1/members/${encodeURIComponent(userId)}`)
}

export function deleteInvitation(invitationId: string) {
  return send('DELETE', `/v1/invitations/${encodeURIComponent(invitationId)}`)
}

export function refreshTeam(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['team'] })
}
