import { changeContacts } from '../../contacts/writing/transaction.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { RELEASED, whileClaimed } from '../../platform/postgres/lease.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { HOUR_MS } from '../../platform/time.ts'
import { isOutbound } from '../action-types.ts'
import type { ActionError } from './action-object.ts'
import { auditAction } from './audit.ts'
import { type ClaimedAction, claimAction, errorOf, type SendOutcome, whereClaimed } from './claim.ts'
import { executeInside, typeOf } from './execute-inside.ts'
import { type ActionRef, queueAction } from './queue.ts'
import { deleteOutreach, type Ending, finishAction, lasting } from './record.ts'
import type { ExecutionDependencies } from './senders.ts'

/** Temporary failures after which an action fails: about three days of retries. */
const FAILURES_MAX = 80
const RETRY_MS_MIN = 30_000
const RETRY_MS_MAX = HOUR_MS

/**
 * Executes an approved action once, however many calls and processes do this. Returns when the result is stored or the
 * action is queued for a later attempt.
 */
export async function executeAction(
  tenant: Tenant,
  dependencies: ExecutionDependencies,
  ref: ActionRef,
): Promise<void> {
  const type = await typeOf(tenant, ref)
  if (type === null) return
  if (!isOutbound(type)) return executeInside(tenant, dependencies, ref)
  const { jobs, clock, log, senders } = dependencies
  const claimed = await changeContacts(tenant, dependencies, (tx, { events }) =>
    claimAction(tx, events, ref, { jobs, now: clock(), keyOf: (action) => senders.keyOf(tx, action) }),
  )
  if (!claimed) return
  const outcome = await whileClaimed('agent_action', whereClaimed(tenant, claimed), (lost) => {
    // A mail on its way cannot be stopped. `storeOutcome` records nothing if another process has the claim.
    lost.addEventListener('abort', () =>
      log.warn({ ...ref, tenantId: tenant.id }, 'the claim of an action was lost while it was being sent'),
    )
    return attempt(tenant, dependencies, claimed)
  })
  await storeOutcome(tenant, dependencies, claimed, outcome)
}

async function attempt(
  tenant: Tenant,
  { senders, log }: ExecutionDependencies,
  action: ClaimedAction,
): Promise<SendOutcome> {
  try {
    if (action.blockedBy) {
      // It may have been sent, and a guardrail forbids sending it again, so it can only be searched for.
      const found = await senders.find(tenant, action)
      if (found) return { outcome: 'sent', result: found }
      return { outcome: 'failed', error: errorOf(action.blockedBy), mayHaveArrived: true }
    }
    return await senders.send(tenant, action)
  } catch (error) {
    log.error(
      { err: error, tenantId: tenant.id, runId: action.runId },
      'an action could not be executed; retrying shortly',
    )
    const message = 'An internal error occurred. The action will be retried.'
    return { outcome: 'later', error: { code: 'internal_error', message }, mayHaveBeenSent: true }
  }
}

async function storeOutcome(
  tenant: Tenant,
  dependencies: ExecutionDependencies,
  action: ClaimedAction,
  outcome: SendOutcome,
): Promise<void> {
  const now = dependencies.clock()
  await changeContacts(tenant, dependencies, async (tx, log) => {
    const ending = endingOf(action, outcome)
    if (ending) {
      const isWritten = await finishAction(tx, log.events, action, ending, now, action.claim)
      if (!isWritten && ending.status === 'executed') await auditDeleted(tx, action, ending.result, now)
    } else if (outcome.outcome === 'later') {
      await releaseAction(tx, dependencies.jobs, action, outcome, now)
    }
  })
}

/** If the agent was deleted during the send, the action was deleted with it. Its result is kept in the audit log. */
async function auditDeleted(
  tx: Tenant,
  action: ClaimedAction,
  result: Record<string, unknown>,
  now: Date,
): Promise<void> {
  if (await isStored(tx, action)) return
  const details = { type: action.type, ...lasting(result, null), deleted_meanwhile: true }
  await auditAction(tx, 'executed', action, { kind: 'service' }, details, now)
}

async function isStored(tx: Tenant, { runId, contactId, actionIndex }: ActionRef): Promise<boolean> {
  const row = await tx.db
    .selectFrom('agent_actions')
    .select('action_index')
    .where('run_id', '=', runId)
    .where('contact_id', '=', contactId)
    .where('action_index', '=', actionIndex)
    .executeTakeFirst()
  return row !== undefined
}

function endingOf({ execution }: ClaimedAction, outcome: SendOutcome): Ending | null {
  if (outcome.outcome === 'sent') return { status: 'executed', result: outcome.result }
  const { error } = outcome
  if (outcome.outcome === 'failed') return { status: 'failed', error, mayHaveArrived: outcome.mayHaveArrived === true }
  if (outcome.until !== undefined || execution.failures + 1 < FAILURES_MAX) return null
  return { status: 'failed', error, mayHaveArrived: outcome.mayHaveBeenSent }
}

/** Releases an action until its next attempt, and stores the reason. */
async function releaseAction(
  tx: Tenant,
  jobs: Pick<Jobs, 'send'>,
  action: ClaimedAction,
  { error, until, mayHaveBeenSent }: Extract<SendOutcome, { outcome: 'later' }>,
  now: Date,
): Promise<void> {
  const failures = action.execution.failures + (until === undefined ? 1 : 0)
  const pauseMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(failures - 1, 10))
  const dueAt = until ?? new Date(now.getTime() + pauseMs)
  const execution = { ...action.execution, failures, may_have_been_sent: mayHaveBeenSent }
  const { numUpdatedRows } = await whereClaimed(tx, action)
    .set({
      ...RELEASED,
      due_at: dueAt,
      execution: JSON.stringify(execution),
      error: JSON.stringify(error satisfies ActionError),
    })
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return
  if (!mayHaveBeenSent) await deleteOutreach(tx, action)
  await queueAction(tx, jobs, action, dueAt, now)
}
