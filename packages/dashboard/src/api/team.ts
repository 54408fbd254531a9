import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  CreateInvitationInput,
  CreateInvitationResult,
  Invitation,
  Member,
} from '../../../client/src/generated/types.gen.ts'
import type { Role } from '../../../server/src/operations/roles.ts'
import { call } from './client.ts'

export type { CreateInvitationResult, Invitation, Member }

/** A tenant's limit of pending invitations. */
const INVITATIONS_MAX = 100

/** Rows per page. */
export const MEMBERS_LENGTH = 50

export const membersQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['team', 'members', page, limit],
    queryFn: ({ signal }) => call('listMembers', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })

export const invitationsQuery = queryOptions({
  queryKey: ['team', 'invitations'],
  queryFn: ({ signal }) => call('listInvitations', { limit: INVITATIONS_MAX }, signal),
  select: ({ invitations }) => invitations,
})

/** @returns the invitation with its link, which the service never shows again; null if the link was only mailed. */
export function createInvitation(invitation: CreateInvitationInput) {
  return call('createInvitation', invitation)
}

/** Creates a new link; the previous one stops working. */
export function renewInvitation(invitation_id: string) {
  return call('renewInvitation', { invitation_id })
}

export function updateMember(user_id: string, role: Role) {
  return call('updateMember', { user_id, role })
}

export function removeMember(user_id: string) {
  return call('removeMember', { user_id })
}

export function deleteInvitation(invitation_id: string) {
  return call('deleteInvitation', { invitation_id })
}

export function refreshTeam(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['team'] })
}
