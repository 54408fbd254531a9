import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  CreateInvitationInput,
  CreateInvitationResult,
  Invitation,
  Member,
} from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'
import type { Role } from './session.ts'

export type { CreateInvitationResult, Invitation, Member }

/** A tenant's limit of pending invitations. */
const INVITATIONS_MAX = 100

/** Rows per page. */
export const MEMBERS_LENGTH = 50

export const membersQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['team', 'members', page, limit],
    queryFn: ({ signal }) => call('GET /v1/members', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })

export const invitationsQuery = queryOptions({
  queryKey: ['team', 'invitations'],
  queryFn: ({ signal }) => call('GET /v1/invitations', { limit: INVITATIONS_MAX }, signal),
  select: ({ invitations }) => invitations,
})

/** @returns the invitation with its link, which the service never shows again; null if the link was only mailed. */
export function createInvitation(invitation: CreateInvitationInput) {
  return call('POST /v1/invitations', invitation)
}

/** Creates a new link; the previous one stops working. */
export function renewInvitation(invitation_id: string) {
  return call('POST /v1/invitations/{invitation_id}/renew', { invitation_id })
}

export function updateMember(user_id: string, role: Role) {
  return call('PATCH /v1/members/{user_id}', { user_id, role })
}

export function removeMember(user_id: string) {
  return call('DELETE /v1/members/{user_id}', { user_id })
}

export function deleteInvitation(invitation_id: string) {
  return call('DELETE /v1/invitations/{invitation_id}', { invitation_id })
}

export function refreshTeam(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['team'] })
}
