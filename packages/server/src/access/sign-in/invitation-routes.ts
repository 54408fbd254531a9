import Type from 'typebox'
import type { App } from '../../platform/http/app-types.ts'
import { readInvitationByToken } from '../accept-invitation.ts'
import { type JoinDependencies, joinByInvitation } from './join.ts'
import { AcceptBody, Accepted, InvitationSeen } from './schema.ts'

const TokenPath = Type.Object({ token: Type.String() })

/** Opens and accepts the link of an invitation, which signs a new person in. */
export function invitationRoutes(app: App, dependencies: JoinDependencies): void {
  const { stores, rateLimiter, clock } = dependencies

  app.get(
    '/api/invitations/:token',
    { config: { access: 'public' }, schema: { params: TokenPath, response: { 200: InvitationSeen } } },
    async (request, reply) => {
      rateLimiter.checkInvitation(request, reply)
      reply.header('cache-control', 'no-store')
      return { status: 'success' as const, ...(await readInvitationByToken(stores, request.params.token, clock())) }
    },
  )

  app.post(
    '/api/invitations/:token/accept',
    {
      config: { access: 'public', unaudited: 'member.joined, by the person who joins' },
      schema: { params: TokenPath, body: AcceptBody, response: { 200: Accepted } },
    },
    async (request, reply) => {
      rateLimiter.checkSignIn(request.ip, reply)
      return joinByInvitation(dependencies, request, reply, request.params.token, request.body)
    },
  )
}
