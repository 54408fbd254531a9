import { conflict } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { failureError, failureObject, type LoginFailure } from './failures.ts'
import { codePlace, readSession, type SessionRow, SOCIAL_LOGINS, type SocialDependencies } from './sessions.ts'

/**
 * Accepts the two-factor code that the network asked for and queues its submission.
 * @returns the session, now running.
 * @throws ServiceError 404; 409 `no_code_awaited`; the login's failure if it has failed (401, 408, 423, 409).
 */
export async function submitCode(
  tenant: Tenant,
  { secrets, jobs, clock }: SocialDependencies,
  identityId: string,
  sessionId: string,
  code: string,
): Promise<SessionRow> {
  const now = clock()
  const known = await readSession(tenant, identityId, sessionId, now)
  if (known.error_code !== null) throw endedError(known.error_code as LoginFailure, sessionId)
  return tenant.transaction(async (tx) => {
    const session = await tx.db
      .updateTable('social_sessions')
      .set(({ eb }) => ({
        status: 'running',
        code_sealed: secrets.seal(code, codePlace(tenant.id, sessionId)),
        code_count: eb('code_count', '+', 1),
        updated_at: now,
      }))
      .where('session_id', '=', sessionId)
      .where('status', '=', 'awaiting_2fa')
      .returningAll()
      .executeTakeFirst()
    if (!session) {
      const message = `This login is ${known.status} and needs no code. Send a code only while its status is awaiting_2fa.`
      throw conflict('no_code_awaited', message, [{ path: 'session_id', message: sessionId }])
    }
    // A delayed status poll may have the same step. The job that runs first submits the code; the other finds nothing to do.
    await jobs.send(tx, SOCIAL_LOGINS, { sessionId, step: session.step })
    return session
  })
}

/** For a late code, an unavailable network is not a 503: a retry cannot help. */
function endedError(code: LoginFailure, sessionId: string) {
  const failure = failureObject(code)
  return failureError(failure.http_status === 503 ? { ...failure, http_status: 409 } : failure, sessionId)
}
