import { type RawBuilder, sql } from 'kysely'
import { every } from '../every.ts'
import { newId } from '../ids.ts'

/*
 * A claim is the right of one process to work on a row until its lease ends. The row has `claim`, an id that proves the
 * claim, and `claimed_until`. PostgreSQL's clock decides, because the clocks of several hosts differ.
 *
 * Claim a row that `isFree` by setting `newClaim`, let `whileClaimed` renew the claim during the work, and release the row
 * by setting `RELEASED`. To renew, release or finish, update the row where `isClaimed` by this process: if another process
 * has claimed it meanwhile, nothing is updated. The `whereClaimed` of a feature starts such an update.
 *
 * A process claims all its mailboxes with one id and renews them together. Four kinds of work use only the length of their
 * lease. In `idempotency_keys`, `claimed_at` proves the claim. In `webhook_queue`, `due_at` is the end of the lease, by the
 * worker's clock, and proves the claim. A mail is claimed once, because a second process might send it again: when the
 * lease of its row in `mail_sends` ends, the outcome is unknown.
 * In `social_sessions`, the number of the step proves the claim, and `wake_by` is the end of the lease.
 *
 * Runs, such as imports and exports, are claimed and released by platform/runs. Jobs are claimed by pg-boss. It starts a job
 * in a second process if the heartbeats of the first stop or the job takes too long. The first may still be working on it, so
 * the actions of agents claim a row, too.
 */

/** How long a claim lasts unless it is renewed: if its process dies, the work waits for this long. */
const LEASE_SECONDS = {
  agent_action: 30,
  agent_run: 30,
  alert: 60,
  connection_activity: 60,
  dashboard_mail: 60,
  erasure: 60,
  event_import: 60,
  export: 60,
  /** Not renewed: longer than recording a body takes. Recording it twice changes nothing. */
  hook_body: 60,
  import: 30,
  /** Not renewed: longer than any request. */
  idempotency_key: 120,
  /** Not renewed: longer than any session with a mail server. */
  mail_send: 300,
  mailbox: 60,
  segment: 120,
  /** Not renewed: longer than any step of a login at a social network. */
  social_step: 45,
  tenant_deletion: 60,
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

/** The columns of a claim, which no export has. */
export const CLAIM = ['claim', 'claimed_until'] as const

/** The columns of a row that any process may claim. */
export const RELEASED = { claim: null, claimed_until: null }

/** The columns of a row that any process may claim after a pause. */
export function releasedFor(seconds: number) {
  return { claim: null, claimed_until: sql<Date>`now() + make_interval(secs => ${seconds})` }
}

/** Whether a row can be claimed: no process has, or its lease has ended. */
export const isFree = isFreeAt(sql`claimed_until`)

/** `isFree` in an ON CONFLICT clause, which has to name the table. */
export function isFreeIn(table: string) {
  return isFreeAt(sql.ref(`${table}.claimed_until`))
}

function isFreeAt(claimedUntil: RawBuilder<unknown>) {
  return sql<boolean>`(${claimedUntil} IS NULL OR ${claimedUntil} < now())`
}

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

/** Another process has claimed the row, or nobody may work on it any more: it has ended or was deleted. */
export class ClaimLost extends Error {}

/** An update that applies only to a row that this process has claimed. */
interface ClaimedUpdate {
  executeTakeFirst(): Promise<{ numUpdatedRows: bigint }>
}

/** A row that this process has claimed, to be updated. */
interface ClaimedRow {
  set(columns: { claimed_until: RawBuilder<Date> }): ClaimedUpdate
}

/** Updates a claimed row. @throws ClaimLost */
export async function updateClaimed(update: ClaimedUpdate): Promise<void> {
  const { numUpdatedRows } = await update.executeTakeFirst()
  if (numUpdatedRows === 0n) throw new ClaimLost()
}

/** Renews the claim of a row. @throws ClaimLost */
export async function renewClaim(lease: Lease, row: ClaimedRow): Promise<void> {
  await updateClaimed(row.set({ claimed_until: leaseEnd(lease) }))
}

/**
 * Does work on a claimed row and renews the claim meanwhile.
 * @param work gets a signal that aborts when the claim is lost: another process has claimed the row, or it was not
 * renewed in time. @throws ClaimLost if the work fails after another process has claimed the row.
 */
export async function whileClaimed<T>(
  lease: Lease,
  row: ClaimedRow,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const losing = new AbortController()
  let renewedAt = performance.now()
  const renewal = every(leaseMs(lease) * RENEW_AFTER, async () => {
    const startedAt = performance.now()
    try {
      await renewClaim(lease, row)
      renewedAt = startedAt
    } catch (error) {
      // The database may be back in time; if not, the work fails too, and says why.
      if (error instanceof ClaimLost || mayBeLost(lease, renewedAt)) losing.abort(error)
    }
  })
  try {
    return await work(losing.signal)
  } catch (error) {
    // When the signal aborts, the work fails with its own error.
    throw losing.signal.reason instanceof ClaimLost ? losing.signal.reason : error
  } finally {
    await renewal.stop()
  }
}
