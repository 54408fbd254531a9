import { setTimeout as sleep } from 'node:timers/promises'
import type { Tenant } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { failureError } from './failures.ts'
import { errorOf } from './requests.ts'
import { readSession, type SessionRow } from './sessions.ts'

/** Most answers are there at once; of those that are not, many callers may wait. */
const FIRST_PAUSE_MS = 50
const PAUSE_MS_MAX = 500

/**
 * Waits until the network has said something of a session, but not longer than it is worth keeping a caller.
 * @returns the session as it is then.
 * @throws ServiceError when the login or its code is refused.
 */
export async function waitForWord(
  tenant: Tenant,
  clock: Clock,
  session: SessionRow,
  waitMs: number,
  isGivenUp: () => boolean,
): Promise<SessionRow> {
  const until = performance.now() + waitMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, PAUSE_MS_MAX)) {
    const current = await readSession(tenant, session.identity_id, session.session_id, clock())
    // Another caller's code may have come after the one that this caller waits for; it gets that word then.
    const isOpen = current.status === 'queued' || current.status === 'running'
    if (!isOpen) {
      const error = errorOf(current)
      if (error) throw failureError(error, session.session_id)
      return current
    }
    if (performance.now() >= until || isGivenUp()) return current
    await sleep(pauseMs)
  }
}
