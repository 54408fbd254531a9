import { sql } from 'kysely'
import { every } from '../every.ts'
import { newId } from '../ids.ts'

/*
 * A claim is the right of one process to work on a row until its lease ends. The row has `claim`, an id that proves the
 * claim, and `claimed_until`. PostgreSQL's clock decides, because the clocks of several hosts differ.
 *
 * Claim a row that `isFree` by setting `newClaim`, renew the claim with `whileClaimed`, and release the row with
 * `RELEASED`. To renew, release or finish, update the row where `isClaimed` by this process: if another process has
 * claimed it meanwhile, nothing is updated.
 */

/** How long a claim lasts unless it is renewed: if its process dies, the work waits for this long. */
const LEASE_SECONDS = {
  agent_action: 30,
  agent_run: 30,
  event_import: 60,
  /** Not renewed: longer than recording a body takes. Recording it twice changes nothing. */
  hook_body: 60,
  /** Not renewed: longer than any session with a mail server. */
  mail_send: 300,
  mailbox: 60,
  segment: 120,
  warehouse_run: 60,
  /** Not renewed: longer than any attempt. */
  webhook_batch: 20,
} as const

export type Lease = keyof typeof LEASE_SECONDS

/** The part of a lease after which it is renewed, and the part after which it counts as lost if it could not be. */
const RENEW_AFTER = 1 / 3
const LOST_AFTER = 2 / 3

export function leaseMs(lease: Lease): number {
  return LEASE_SECONDS[lease] * 1000
}

/** The end of a claim that is made or renewed now. */
export function leaseEnd(lease: Lease) {
  return sql<Date>`now() + make_interval(secs => ${sql.lit(LEASE_SECONDS[lease])})`
}

/** The columns of a row that this process claims. */
export function newClaim(lease: Lease, claim: string = newId()) {
  return { claim, claimed_until: leaseEnd(lease) }
}

/** The columns of a row that any process may claim. */
export const RELEASED = { claim: null, claimed_until: null }

/** The columns of a row that any process may claim after a pause. */
export function releasedFor(seconds: number) {
  return { claim: null, claimed_until: sql<Date>`now() + make_interval(secs => ${seconds})` }
}

/** Whether a row can be claimed: no process has, or its lease has ended. */
export const isFree = sql<boolean>`(claimed_until IS NULL OR claimed_until < now())`

/** Whether a process has claimed a row. */
export const isBeingWorkedOn = sql<boolean>`(claim IS NOT NULL AND claimed_until >= now())`

/** Whether a row has this claim. An ended lease counts until another process claims the row. */
export function isClaimed(claim: string) {
  return sql<boolean>`claim = ${claim}`
}

/** The rest of a lease in milliseconds; null if the row can be claimed. */
export const leaseLeftMs = sql<number | null>`CASE WHEN claimed_until > now()
  THEN date_part('epoch', claimed_until - now()) * 1000 END`

/** Whether a claim may have been lost, because it was last renewed at `renewedAt` (of `performance.now`). */
export function mayBeLost(lease: Lease, renewedAt: number): boolean {
  return performance.now() - renewedAt > leaseMs(lease) * LOST_AFTER
}

/**
 * Does work on a claimed row and renews the claim meanwhile.
 * @param renew returns false if another process has the claim.
 * @param work gets a signal that aborts when the claim is lost: another process has claimed the row, or it was not
 * renewed in time.
 */
export async function whileClaimed<T>(
  lease: Lease,
  renew: () => Promise<boolean>,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const losing = new AbortController()
  let renewedAt = performance.now()
  const renewal = every(leaseMs(lease) * RENEW_AFTER, async () => {
    const startedAt = performance.now()
    try {
      if (await renew()) renewedAt = startedAt
      else losing.abort()
    } catch {
      // The database may be back in time; if not, the work fails too, and says why.
      if (mayBeLost(lease, renewedAt)) losing.abort()
    }
  })
  try {
    return await work(losing.signal)
  } finally {
    await renewal.stop()
  }
}
