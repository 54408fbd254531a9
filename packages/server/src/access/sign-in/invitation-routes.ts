import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { App } from '../../platform/http/app-types.ts'
import { acceptInvitation, readInvitation } from '../accept-invitation.ts'
import type { SignedIn } from '../sessions.ts'
import { type SignInDependencies, signInWithPassword } from './password-sign-in.ts'
import { AcceptBody, Accepted, InvitationSeen } from './schema.ts'

const TokenPath = Type.Object({ token: Type.String() })

/** Opens and accepts the link of an invitation, which signs a new person in. */
export function invitationRoutes(
  app: App,
  dependencies: SignInDependencies & {
    config: Pick<Config, 'oidc'>
    findSession(cookies: string | undefined): Promise<SignedIn | null>
  },
): void {
  const { config, stores, rateLimiter, clock, findSession } = dependencies

  app.get(
    '/api/invitations/:token',
    { config: { access: 'public' }, schema: { params: TokenPath, response: { 200: InvitationSeen } } },
    async (request, reply) => {
      rateLimiter.checkSignIn(request.ip, reply)
      reply.header('cache-control', 'no-store')
      return { status: 'success' as const, ...(await readInvitation(stores, request.params.token, clock())) }
    },
  )

  app.post(
    '/api/invitations/:token/accept',
    {
      config: { access: 'public' },
      schema: { params: TokenPath, body: AcceptBody, response: { 200: Accepted } },
    },
    async (request, reply) => {
      rateLimiter.checkSignIn(request.ip, reply)
      const signedIn = await findSession(request.headers.cookie)
      const acceptance = { ...request.body, withoutPassword: config.oidc !== null }
      const joined = await acceptInvitation(stores, request.params.token, signedIn, acceptance, clock())
      const { password } = request.body
      if (joined.isNew && password !== undefined) {
        const { email, tenantId } = joined
        await signInWithPassword(dependencies, request, reply, { email, password, tenant_id: tenantId })
      }
      const isSignedIn = !joined.isNew || password !== undefined
      return { status: 'success' as const, tenant_id: joined.tenantId, signed_in: isSignedIn }
    },
  )
}
