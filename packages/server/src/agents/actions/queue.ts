import { type Jobs, jobQueue } from '../../platform/jobs/jobs.ts'
import type { Tenant } from '../../platform/tenant.ts'

/** How an action is addressed. */
export interface ActionRef {
  runId: string
  contactId: string
  actionIndex: number
}

/**
 * Approved actions on their way to execution. A handler ends well for whatever becomes of the action itself; one that
 * throws has met a failure of the service's own (or died), and is tried again for weeks rather than forgotten.
 */
export const ACTION_QUEUE = jobQueue<ActionRef>('agent-actions', {
  retryLimit: 10_000,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 300,
  heartbeatSeconds: 30,
  expireInSeconds: 600,
  retentionSeconds: 400 * 86_400,
  deleteAfterSeconds: 3_600,
})

/** Has an action executed, in the transaction that approves it. */
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
