import { setTimeout as sleep } from 'node:timers/promises'
import type { Tenant } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { failureError } from './failures.ts'
import { errorOf } from './requests.ts'
import { readSession, type SessionRow } from './sessions.ts'

/** Most responses arrive quickly. The interval grows, because many callers may wait for slow ones. */
const FIRST_PAUSE_MS = 50
const PAUSE_MS_MAX = 500

/**
 * Waits up to `waitMs` for the network's response about a session.
 * @returns the current session.
 * @throws ServiceError if the login or its code was rejected.
 */
export async function waitForNetwork(
  tenant: Tenant,
  clock: Clock,
  session: Pick<SessionRow, 'identity_id' | 'session_id'>,
  waitMs: number,
  isGivenUp: () => boolean,
): Promise<SessionRow> {
  const until = performance.now() + waitMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, PAUSE_MS_MAX)) {
    const current = await readSession(tenant, session.identity_id, session.session_id, clock())
    // If another caller has submitted a later code, this caller gets the response to that one.
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
