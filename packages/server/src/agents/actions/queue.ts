import type { WriteDependencies } from '../../contacts/writing/transaction.ts'
import { type Jobs, jobQueue } from '../../platform/jobs/jobs.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../platform/time.ts'

/** Identifies an action. */
export interface ActionRef {
  runId: string
  contactId: string
  actionIndex: number
}

/** An execution that takes longer has hung; its job starts again. */
const EXECUTION_SECONDS_MAX = 600
/** Far longer than all retries take: 10,000 times 5 minutes are 35 days. */
const RETRIED_FOR_SECONDS = 400 * DAY_SECONDS

/**
 * Approved actions to execute. A handler completes whatever the result of the action. It throws only after an internal
 * failure; its job is then retried for weeks rather than lost.
 */
export const ACTION_QUEUE = jobQueue<ActionRef>('agent-actions', {
  retryLimit: 10_000,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 300,
  heartbeatSeconds: 30,
  expireInSeconds: EXECUTION_SECONDS_MAX,
  retentionSeconds: RETRIED_FOR_SECONDS,
  deleteAfterSeconds: HOUR_SECONDS,
})

/** What changing an action needs: its events are recorded as those of contacts are, and an approved action is queued. */
export interface ActionServices extends WriteDependencies {
  jobs: Pick<Jobs, 'send'>
}

/** Queues the execution of an action in the caller's transaction. */
export async function queueAction(
  tx: Tenant,
  jobs: Pick<Jobs, 'send'>,
  { runId, contactId, actionIndex }: ActionRef,
  dueAt: Date,
  now: Date,
): Promise<void> {
  const startAfter = Math.max(0, Math.ceil((dueAt.getTime() - now.getTime()) / 1000))
  await jobs.send(tx, ACTION_QUEUE, { runId, contactId, actionIndex }, { startAfter })
}
