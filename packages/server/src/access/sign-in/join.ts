import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Config } from '../../config.ts'
import { acceptInvitation } from '../accept-invitation.ts'
import type { SignedIn } from '../sessions.ts'
import { type SignInDependencies, signInWithPassword } from './password-sign-in.ts'
import type { AcceptBody, Accepted } from './schema.ts'

export type JoinDependencies = SignInDependencies & {
  config: Pick<Config, 'oidc'>
  findSession(cookies: string | undefined): Promise<SignedIn | null>
}

/**
 * Accepts an invitation. A new person is signed in with the password that they chose; without one, they sign in at the
 * OpenID provider.
 */
export async function joinByInvitation(
  dependencies: JoinDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  body: Static<typeof AcceptBody>,
): Promise<Static<typeof Accepted>> {
  const { config, stores, clock, findSession } = dependencies
  const signedIn = await findSession(request.headers.cookie)
  const acceptance = { ...body, withoutPassword: config.oidc !== null }
  const { isNew, email, tenantId } = await acceptInvitation(stores, token, signedIn, acceptance, clock())
  const { password } = body
  if (isNew && password !== undefined) {
    await signInWithPassword(dependencies, request, reply, { email, password, tenant_id: tenantId })
  }
  return { status: 'success', tenant_id: tenantId, signed_in: !isNew || password !== undefined }
}
