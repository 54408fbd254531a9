import { ServiceError } from '../../platform/errors.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { ClaimLost } from '../../platform/postgres/lease.ts'
import { asUnavailable } from '../../platform/postgres/unavailable.ts'
import { doubling, NoProgress, type RunKind } from '../../platform/runs/kind.ts'
import { type RunWork, runWork } from '../../platform/runs/workers.ts'
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
import type { Trigger } from '../triggers/trigger.ts'
import { NOTHING_NOTICED, whyNow } from '../triggers/why-now.ts'
import { AGENT_ROWS, type AgentRun, beginTurn } from './agent-run.ts'
import { type CostCaps, costCapsOf, requireKnownCosts } from './costs.ts'
import { type Outcome, recordOutcome } from './record.ts'
import { type Reserved, reserveCostFor } from './reserve-cost.ts'
import { senderOf } from './sender.ts'
import { finishRun, startRun } from './start-and-finish.ts'
import { dueAgents, STUCK_RUNS } from './sweep.ts'

/** A run works for this long before other runs get a turn. */
const SLICE_MS = MINUTE_MS

export interface RunDependencies extends ActionServices, ReasonerDependencies {}

/** After more interruptions than this without progress, a run fails. */
export const FAILURES_MAX = 5
const INTERRUPTED = 'The run was interrupted. See the log of the service.'
const RUNS_AT_ONCE = 2

/** Works on the runs of agents. */
export function agentRuns(dependencies: RunDependencies & { jobs: Pick<Jobs, 'nextTime'> }): RunWork {
  return runWork(agentKind(dependencies), [{ atOnce: RUNS_AT_ONCE }], dueAgents(dependencies.jobs), STUCK_RUNS)
}

/** A failure that concerns one contact is recorded with that contact; after any other, the run is retried. */
export function agentKind(dependencies: RunDependencies): RunKind<'agent_runs'> {
  return {
    rows: AGENT_ROWS,
    step: async (run, signal) => workThrough(await beginTurn(run), dependencies, signal),
    failure: (error) => {
      const isFinal = error instanceof RunFailure || (error instanceof ServiceError && error.status < 500)
      return { isFinal, shown: { error: isFinal || error instanceof NoProgress ? error.message : INTERRUPTED } }
    },
    failuresMax: FAILURES_MAX,
    pauseSeconds: doubling(2, 60),
  }
}

/** Works on a run for one turn, or until it ends. */
async function workThrough(run: AgentRun, dependencies: RunDependencies, signal: AbortSignal): Promise<void> {
  const { tenant, configuration, row } = run
  const { clock } = dependencies
  const sender = await senderOf(tenant, configuration)
  const trigger = row.triggered_by as Trigger | null
  const why =
    trigger === null ? NOTHING_NOTICED : await whyNow(tenant, run.agentId, trigger, row.requested_contact_ids ?? [])
  const { reasoner, isStandIn } = chooseReasoner(tenant, dependencies, configuration, sender, why)
  if (isStandIn) configuration.playbook.require_approval = true
  // Its provider and its contacts are chosen once.
  if (row.provider === null) await startRun(run, reasoner, clock())
  const caps = await costCapsOf(tenant, configuration)
  requireKnownCosts(reasoner, caps)
  const until = Date.now() + SLICE_MS
  while (!signal.aborted && Date.now() < until) {
    const contactIds = await nextContacts(run, reasoner.batch)
    if (contactIds.length === 0) return finishRun(run, clock())
    const notice = await workOnBatch(run, dependencies, reasoner, caps, contactIds, signal)
    if (notice !== null) return finishRun(run, clock(), notice)
  }
}

async function nextContacts({ tenant, runId }: AgentRun, limit: number): Promise<string[]> {
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
  run: AgentRun,
  dependencies: RunDependencies,
  reasoner: Reasoner,
  caps: CostCaps,
  contactIds: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const now = dependencies.clock()
  const contexts = await readContexts(run.tenant, contactIds)
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
    recordOutcome(dependencies, run, contactId, outcome, reserved)
  const workOnContact = async (contactId: string) => {
    const context = contexts.get(contactId)
    if (!context) {
      const error = 'The contact has been deleted.'
      await record(contactId, { status: 'skipped', error })
      return
    }
    const reserved = { usd: 0 }
    let evaluation: Evaluation | undefined
    const reserveCost = reserveCostFor(run, caps, reserved, dependencies.clock, stopped)
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

/** Whether the next contact would fail in the same way. */
function isOfTheRun(error: unknown): boolean {
  if (error instanceof ClaimLost || error instanceof RunFailure || error instanceof CapReached) return true
  return asUnavailable(error) !== null
}
