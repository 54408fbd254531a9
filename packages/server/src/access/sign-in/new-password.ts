import type { FastifyReply, FastifyRequest } from 'fastify'
import { saltFor } from '../accounts.ts'
import { personOf } from '../authentication.ts'
import { deletePendingVerifications, verifyByLink } from '../password-reset.ts'
import { withSalt } from '../passwords.ts'
import { forward } from './forward.ts'
import type { SignInDependencies } from './password-sign-in.ts'

export const CHANGE_PASSWORD = '/change-password'

/** Changes the password of the signed-in person. Ends other sessions and pending verifications. */
export async function changePassword(
  dependencies: SignInDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  body: object,
): Promise<Record<string, unknown>> {
  const { database } = dependencies.stores
  const { user } = personOf(request)
  const call = () => forward(dependencies, request, reply, { method: 'POST', path: CHANGE_PASSWORD, body })
  const result = await withSalt(await saltFor(database, user.email), call)
  await deletePendingVerifications(database, user.id)
  return result
}

/** Sets a new password with the token of a mailed link, which also verifies the address. */
export async function resetPassword(
  dependencies: SignInDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  body: { token: string; newPassword: string },
): Promise<Record<string, unknown>> {
  const { stores, clock } = dependencies
  const salt = await verifyByLink(stores, body.token, clock())
  const call = () => forward(dependencies, request, reply, { method: 'POST', path: '/reset-password', body })
  return salt === null ? call() : withSalt(salt, call)
}
