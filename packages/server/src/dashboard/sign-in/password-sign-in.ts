import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { isKnownNetwork, rememberNetwork } from '../../tenants/networks.ts'
import { type ForwardDependencies, forward } from './forward.ts'

export interface SignInDependencies extends ForwardDependencies {
  stores: Stores
  rateLimiter: RateLimiter
  clock: Clock
}

/**
 * Limits attempts per address and, when the person is known, per person: strictly from one address, and loosely from
 * all addresses where the person has never signed in. So nobody can guess without limit, and nobody can lock out
 * others. @throws ServiceError 429 `rate_limited`.
 */
export async function limitSignIn(
  { stores, rateLimiter }: SignInDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  person: { id: string } | { email: string } | undefined = request.signedIn?.user,
): Promise<void> {
  rateLimiter.checkSignIn(request.ip, reply)
  if (person === undefined) return
  const isKnown = await isKnownNetwork(stores.database, person, request.ip)
  rateLimiter.checkSignInOf('id' in person ? person.id : person.email, request.ip, isKnown, reply)
}

/** Signs a person in by password; with a second factor, only up to its code. */
export async function signInWithPassword(
  dependencies: SignInDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  body: { email: string; password: string; rememberMe?: boolean },
): Promise<Record<string, unknown>> {
  const answer = await forward(dependencies, request, reply, { method: 'POST', path: '/sign-in/email', body })
  await rememberWhere(dependencies, request, answer)
  return answer
}

/** Remembers the network of the person whom the library has just signed in. */
export async function rememberWhere(
  { stores, clock }: SignInDependencies,
  { ip }: FastifyRequest,
  answer: Record<string, unknown>,
): Promise<void> {
  const { id } = (answer.user ?? {}) as { id?: unknown }
  if (typeof id === 'string') await rememberNetwork(stores.database, id, ip, clock())
}
