import { ServiceError } from '../../platform/errors.ts'
import type { JobContext, TenantJob } from '../../platform/jobs/jobs.ts'
import type { Logger } from '../../platform/log.ts'
import { ClaimLost, whileClaimed } from '../../platform/postgres/lease.ts'
import { asUnavailable } from '../../platform/postgres/unavailable.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import type { ActionServices } from '../actions/queue.ts'
import { chooseReasoner, type ReasonerDependencies } from '../reasoning/choose-reasoner.ts'
import { readContexts } from '../reasoning/context.ts'
import {
  CapReached,
  type Evaluation,
  EvaluationError,
  messageOf,
  NO_USAGE,
  type Reasoner,
  RunFailure,
} from '../reasoning/reasoner.ts'
import { type ClaimedRun, claimRun, releaseAfterFailure, releaseRun, whereClaimed } from './claim.ts'
import { type CostCaps, costCapsOf, requireKnownCosts } from './costs.ts'
import { type Outcome, recordOutcome } from './record.ts'
import { type Reserved, reserveCostFor } from './reserve-cost.ts'
import { senderOf } from './sender.ts'
import { finishRun, startRun } from './start-and-finish.ts'

/** A run works for this long before other runs get a turn. */
const SLICE_MS = MINUTE_MS

export interface RunDependencies extends ActionServices, ReasonerDependencies {
  stores: Stores
  log: Logger
}

/**
 * Works on a run for one turn. A failure that concerns one contact is recorded with that contact; after any other the
 * queue tries again.
 */
export async function workOnRun(
  dependencies: RunDependencies,
  { runId, tenantId }: { runId: string } & TenantJob,
  { signal }: Pick<JobContext, 'signal'>,
): Promise<void> {
  // The queue then gives the job to a process that is not stopping.
  if (signal.aborted) throw new Error('This process is stopping.')
  const tenant = openTenant(dependencies.stores, tenantId)
  const { log, clock, jobs } = dependencies
  const run = await claimRun(tenant, runId, clock())
  if (!run) return
  try {
    await whileClaimed('agent_run', whereClaimed(tenant, run), async (lost) => {
      const isDone = await workThrough(tenant, dependencies, run, AbortSignal.any([signal, lost]))
      if (!isDone) await releaseRun(tenant, jobs, run)
    })
  } catch (error) {
    if (error instanceof ClaimLost) return
    if (error instanceof RunFailure || (error instanceof ServiceError && error.status < 500)) {
      await finishRun(tenant, run, { status: 'failed', error: error.message }, clock()).catch(unlessClaimLost)
      return
    }
    log.warn({ err: error, run_id: runId, tenant_id: tenantId }, 'a run failed; retrying shortly')
    const message = 'The run was interrupted repeatedly and made no progress. See the log of the service.'
    // The queue retries a job that throws.
    if (await releaseAfterFailure(tenant, run, message, clock())) throw error
  }
}

/** @returns whether the run has ended. */
async function workThrough(
  tenant: Tenant,
  dependencies: RunDependencies,
  run: ClaimedRun,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock } = dependencies
  const { reasoner, isStandIn } = chooseReasoner(
    tenant,
    dependencies,
    run.configuration,
    await senderOf(tenant, run.configuration),
  )
  if (isStandIn) run.configuration.playbook.require_approval = true
  if (!run.hasStarted) await startRun(tenant, run, reasoner, clock())
  const caps = await costCapsOf(tenant, run.configuration)
  requireKnownCosts(reasoner, caps)
  const until = Date.now() + SLICE_MS
  while (!signal.aborted && Date.now() < until) {
    const contactIds = await nextContacts(tenant, run, reasoner.batch)
    if (contactIds.length === 0) {
      await finishRun(tenant, run, { status: 'completed' }, clock())
      return true
    }
    const notice = await workOnBatch(tenant, dependencies, run, reasoner, caps, contactIds, signal)
    if (notice !== null) {
      await finishRun(tenant, run, { status: 'completed', notice }, clock())
      return true
    }
  }
  return false
}

async function nextContacts(tenant: Tenant, { runId }: ClaimedRun, limit: number): Promise<string[]> {
  const rows = await tenant.db
    .selectFrom('agent_run_contacts')
    .select('contact_id')
    .where('run_id', '=', runId)
    .where('status', '=', 'pending')
    .orderBy('position')
    .limit(limit)
    .execute()
  return rows.map((row) => row.contact_id)
}

/** @returns why the run ends early, or null. */
async function workOnBatch(
  tenant: Tenant,
  dependencies: RunDependencies,
  run: ClaimedRun,
  reasoner: Reasoner,
  caps: CostCaps,
  contactIds: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const now = dependencies.clock()
  const contexts = await readContexts(tenant, contactIds)
  const evaluate = await reasoner.prepare([...contexts.values()], now)
  const waiting = [...contactIds]
  let notice: string | null = null
  let failure: { error: unknown } | null = null
  const failing = new AbortController()
  const stopped = AbortSignal.any([signal, failing.signal])
  const work = async () => {
    while (!signal.aborted && notice === null && failure === null) {
      const contactId = waiting.shift()
      if (contactId === undefined) return
      await workOnContact(contactId).catch((error: unknown) => {
        if (error instanceof CapReached) {
          notice = error.message
          return
        }
        failure ??= { error }
        failing.abort()
      })
    }
  }
  const record = (contactId: string, outcome: Outcome, reserved?: Reserved) =>
    recordOutcome(tenant, dependencies, run, contactId, outcome, reserved)
  const workOnContact = async (contactId: string) => {
    const context = contexts.get(contactId)
    if (!context) {
      const error = 'The contact has been deleted.'
      await record(contactId, { status: 'skipped', error })
      return
    }
    const reserved = { usd: 0 }
    let evaluation: Evaluation | undefined
    const reserveCost = reserveCostFor(tenant, run, caps, reserved, dependencies.clock, stopped)
    try {
      evaluation = await evaluate(context, signal, reserveCost)
      await record(contactId, { status: 'evaluated', evaluation }, reserved)
    } catch (error) {
      // If the evaluation was interrupted, the contact stays pending for the process that continues the run.
      if (signal.aborted || isOfTheRun(error)) throw error
      dependencies.log.info(
        { err: error, run_id: run.runId, contact_id: contactId },
        'a contact could not be evaluated',
      )
      const usage = error instanceof EvaluationError ? error.usage : (evaluation?.usage ?? NO_USAGE)
      await record(contactId, { status: 'failed', error: messageOf(error), usage }, reserved)
    }
  }
  await Promise.all(Array.from({ length: reasoner.concurrency }, work))
  if (failure !== null && !signal.aborted) throw (failure as { error: unknown }).error
  return notice
}

function unlessClaimLost(error: unknown): void {
  if (!(error instanceof ClaimLost)) throw error
}

/** Whether the next contact would fail in the same way. */
function isOfTheRun(error: unknown): boolean {
  if (error instanceof ClaimLost || error instanceof RunFailure || error instanceof CapReached) return true
  return asUnavailable(error) !== null
}
