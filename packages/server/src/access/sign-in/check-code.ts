import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../platform/errors.ts'
import { countWrongCode, requireUnlocked } from '../networks.ts'
import type { SignedIn } from '../sessions.ts'
import { releaseCode, useCode } from '../used-codes.ts'
import { forward } from './forward.ts'
import { limitSignIn, rememberWhere, type SignInDependencies } from './password-sign-in.ts'

export interface CodeDependencies extends SignInDependencies {
  findSession(cookies: string | undefined): Promise<SignedIn | null>
  findChallenged(cookies: string | undefined): Promise<string | null>
}

/**
 * Checks a second-factor code during sign-in or setup. Each code works once. Too many wrong codes lock the factor:
 * for their network if the person has signed in from it, else for all unknown networks. @throws ServiceError 401
 * `invalid_code`, 429 `second_factor_locked` or `rate_limited`.
 */
export async function checkCode(
  dependencies: CodeDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { kind, ...body }: { kind: 'totp' | 'backup-code'; code: string; trustDevice?: boolean },
): Promise<Record<string, unknown>> {
  const { stores, clock, findSession, findChallenged } = dependencies
  const { database } = stores
  const { cookie } = request.headers
  const session = await findSession(cookie)
  const id = session?.user.id ?? (await findChallenged(cookie))
  const isSigningIn = session === null && id !== null
  await limitSignIn(dependencies, request, reply, isSigningIn ? { id } : undefined)
  if (isSigningIn) await requireUnlocked(database, id, request.ip, clock())
  if (id !== null && !(await useCode(database, id, body.code, clock()))) {
    if (isSigningIn) await countWrongCode(database, id, request.ip, clock())
    throw new ServiceError(401, 'invalid_code', 'This code has already been used. Wait for the next one.')
  }
  try {
    const path = `/two-factor/verify-${kind}`
    const result = await forward(dependencies, request, reply, { method: 'POST', path, body })
    await rememberWhere(dependencies, request, result)
    return result
  } catch (error) {
    const isWrong = error instanceof ServiceError && WRONG.has(error.code)
    if (isSigningIn && isWrong) await countWrongCode(database, id, request.ip, clock())
    if (id !== null) await releaseCode(database, id, body.code)
    throw error
  }
}

const WRONG = new Set(['invalid_code', 'invalid_backup_code'])
