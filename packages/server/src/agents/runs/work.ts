import { ServiceError } from '../../platform/errors.ts'
import { every } from '../../platform/every.ts'
import type { JobContext, TenantJob } from '../../platform/jobs/jobs.ts'
import type { Logger } from '../../platform/log.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { chooseReasoner, type ReasonerDependencies } from '../reasoning/choose-reasoner.ts'
import { readContexts } from '../reasoning/context.ts'
import {
  CapReached,
  type Evaluation,
  EvaluationError,
  NO_USAGE,
  type Reasoner,
  RunFailure,
} from '../reasoning/reasoner.ts'
import { begin, finish } from './begin-and-end.ts'
import { beat, type ClaimedRun, claimRun, giveBack, giveBackAfterFailure, NotOurs } from './claim.ts'
import { type CostCaps, costCapsOf } from './costs.ts'
import { type Held, holdFor } from './hold.ts'
import { type Outcome, type RecordDependencies, recordOutcome } from './record.ts'

/** After so long a run lets others go ahead. */
const SLICE_MS = 60_000
const BEAT_MS = 5_000
const ERROR_LENGTH_MAX = 500

export interface RunDependencies extends RecordDependencies, ReasonerDependencies {
  stores: Stores
  log: Logger
}

/**
 * Works on a run as far as its turn goes. Whatever is wrong with one contact is that contact's; what is wrong with the
 * run as a whole is tried again by the queue.
 */
export async function workOnRun(
  dependencies: RunDependencies,
  { runId, tenantId }: { runId: string } & TenantJob,
  { signal }: Pick<JobContext, 'signal'>,
): Promise<void> {
  // The queue gives it to a process that is not about to stop.
  if (signal.aborted) throw new Error('This process is stopping.')
  const tenant = openTenant(dependencies.stores, tenantId)
  const { log, clock, jobs } = dependencies
  const run = await claimRun(tenant, runId, clock())
  if (!run) return
  const ending = new AbortController()
  const end = () => ending.abort()
  signal.addEventListener('abort', end)
  const beating = every(BEAT_MS, async () => {
    // A heartbeat that fails is missed; a run that is another's by now is left to it.
    if (!(await beat(tenant, run).catch(() => true))) end()
  })
  try {
    const isDone = await workThrough(tenant, dependencies, run, ending.signal)
    if (!isDone) await giveBack(tenant, jobs, run)
  } catch (error) {
    if (error instanceof NotOurs) return
    if (error instanceof RunFailure || (error instanceof ServiceError && error.status < 500)) {
      await finish(tenant, run, { status: 'failed', error: error.message }, clock()).catch(unlessNotOurs)
      return
    }
    log.warn({ err: error, run_id: runId, tenant_id: tenantId }, 'a run met a failure; it is tried again shortly')
    const message = 'The run was interrupted again and again without getting on. See the log of the service.'
    // The queue tries again what throws.
    if (await giveBackAfterFailure(tenant, run, message, clock())) throw error
  } finally {
    signal.removeEventListener('abort', end)
    await beating.stop()
  }
}

/** @returns whether the run has come to its end. */
async function workThrough(
  tenant: Tenant,
  dependencies: RunDependencies,
  run: ClaimedRun,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock } = dependencies
  const { reasoner, isStandIn } = await chooseReasoner(tenant, dependencies, run.configuration)
  if (isStandIn) run.configuration.playbook.require_approval = true
  if (!run.hasBegun) await begin(tenant, run, reasoner, clock())
  const caps = await costCapsOf(tenant, run)
  requireKnownCosts(reasoner, caps)
  const until = Date.now() + SLICE_MS
  while (!signal.aborted && Date.now() < until) {
    const contactIds = await nextContacts(tenant, run, reasoner.batch)
    if (contactIds.length === 0) {
      await finish(tenant, run, { status: 'completed' }, clock())
      return true
    }
    const notice = await workOnBatch(tenant, dependencies, run, reasoner, caps, contactIds, signal)
    if (notice !== null) {
      await finish(tenant, run, { status: 'completed', notice }, clock())
      return true
    }
  }
  return false
}

/** A cap that could not hold is worse than none: nobody would look after the costs. */
function requireKnownCosts({ knowsCosts, model }: Reasoner, { perRun, perMonth }: CostCaps): void {
  if (knowsCosts || (perRun === null && perMonth === null)) return
  const cap = perRun === null ? 'the monthly cost cap' : "the run's cost cap"
  throw new RunFailure(
    `The price of ${model} is not known, so ${cap} cannot hold. Set the price in CDS_LLM_PRICES (0 for a model of your own), or take the cap away.`,
  )
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

/** @returns why the run ends here, if it does. */
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
  const record = (contactId: string, outcome: Outcome, held?: Held) =>
    recordOutcome(tenant, dependencies, run, contactId, outcome, held)
  const workOnContact = async (contactId: string) => {
    const context = contexts.get(contactId)
    if (!context) {
      const error = 'The contact has been deleted.'
      await record(contactId, { status: 'skipped', error })
      return
    }
    const held = { usd: 0 }
    let evaluation: Evaluation | undefined
    const hold = holdFor(tenant, run, caps, held, dependencies.clock, stopped)
    try {
      evaluation = await evaluate(context, signal, hold)
      await record(contactId, { status: 'evaluated', evaluation }, held)
    } catch (error) {
      // A contact whose evaluation was cut short waits for whoever goes on with the run.
      if (signal.aborted || isOfTheRun(error)) throw error
      dependencies.log.info(
        { err: error, run_id: run.runId, contact_id: contactId },
        'a contact could not be evaluated',
      )
      const usage = error instanceof EvaluationError ? error.usage : (evaluation?.usage ?? NO_USAGE)
      await record(contactId, { status: 'failed', error: messageOf(error), usage }, held)
    }
  }
  await Promise.all(Array.from({ length: reasoner.concurrency }, work))
  if (failure !== null && !signal.aborted) throw (failure as { error: unknown }).error
  return notice
}

function unlessNotOurs(error: unknown): void {
  if (!(error instanceof NotOurs)) throw error
}

/** What the next contact would meet too. */
function isOfTheRun(error: unknown): boolean {
  if (error instanceof NotOurs || error instanceof RunFailure || error instanceof CapReached) return true
  return error instanceof ServiceError && error.status === 503
}

function messageOf(error: unknown): string {
  // Only what was written to be read is shown; anything else is in the log.
  const isOurs = error instanceof EvaluationError || error instanceof ServiceError
  return isOurs
    ? storable(error.message.slice(0, ERROR_LENGTH_MAX))
    : 'The contact could not be evaluated. See the log of the service.'
}

/** A model's own words may stand in what is wrong with them, and what it can spell cannot all be stored. */
function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed()
}
