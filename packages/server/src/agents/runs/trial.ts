import { conflict } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { assess, existingIdentity } from '../actions/propose.ts'
import type { AgentConfiguration } from '../agent.ts'
import { chooseReasoner, type ReasonerDependencies } from '../reasoning/choose-reasoner.ts'
import type { ContactContext } from '../reasoning/context.ts'
import {
  CapReached,
  EvaluationError,
  messageOf,
  NO_USAGE,
  type Reasoner,
  RunFailure,
  type Usage,
} from '../reasoning/reasoner.ts'
import { type CostCaps, costCapsOf, requireKnownCosts } from './costs.ts'
import type { DryRunObject, TriedObject } from './dry-run-object.ts'
import type { PrepaidCosts } from './prepaid-costs.ts'
import { senderOf } from './sender.ts'

/** Trials of a tenant at the same time in a process: their callers wait for them. */
const AT_ONCE = 3
const WATCH_MS = 500

const underWay = new Map<string, number>()

/**
 * Runs a trial for a caller who waits.
 * @param work gets a signal that aborts when the caller gives up.
 * @throws ServiceError 409 `too_many_runs`; 409 `run_failed` for what would fail a run, such as an invalid key.
 */
export async function whileCallerWaits<Result>(
  tenant: Tenant,
  isGivenUp: () => boolean,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const count = underWay.get(tenant.id) ?? 0
  if (count >= AT_ONCE) throw conflict('too_many_runs', `${AT_ONCE} dry runs are in progress. Try again when one ends.`)
  underWay.set(tenant.id, count + 1)
  const givenUp = new AbortController()
  const watching = setInterval(() => isGivenUp() && givenUp.abort(), WATCH_MS)
  try {
    return await work(givenUp.signal)
  } catch (error) {
    if (error instanceof RunFailure) throw conflict('run_failed', error.message)
    throw error
  } finally {
    clearInterval(watching)
    const left = (underWay.get(tenant.id) ?? 1) - 1
    if (left > 0) underWay.set(tenant.id, left)
    else underWay.delete(tenant.id)
  }
}

/** What a trial concluded about a contact. */
interface Conclusion {
  tried: TriedObject
  usage: Usage
  /** Why no further contact is evaluated; null if nothing stands in the way. */
  capNotice: string | null
}

/** Evaluates a contact as a run would, and stores nothing but the cost. */
export type TryOn = (context: ContactContext, costs: PrepaidCosts, signal: AbortSignal) => Promise<Conclusion>

export interface Trial {
  reasoner: Reasoner
  caps: CostCaps
  prepare(contexts: readonly ContactContext[], now: Date): Promise<TryOn>
}

/** A trial of an agent's settings. @throws RunFailure if a cost cap cannot be enforced. */
export async function trialOf(
  tenant: Tenant,
  dependencies: ReasonerDependencies,
  configuration: AgentConfiguration,
): Promise<Trial> {
  const sender = await senderOf(tenant, configuration)
  const { reasoner, isStandIn } = chooseReasoner(tenant, dependencies, configuration, sender)
  const requireApproval = isStandIn || (configuration.playbook.require_approval ?? true)
  const caps = await costCapsOf(tenant, configuration)
  requireKnownCosts(reasoner, caps)
  return {
    reasoner,
    caps,
    async prepare(contexts, now) {
      const prepared = await reasoner.prepare(contexts, now)
      const identityId = await tenant.transaction((tx) => existingIdentity(tx, configuration.identity_id))
      return async (context, costs, signal) => {
        const { contactId } = context
        const tried = { reasoning: null, error: null, proposed_actions: [] }
        let usage: Usage = NO_USAGE
        try {
          const evaluation = await prepared(context, signal, (usd) => costs.reserve(usd))
          usage = evaluation.usage
          const proposed = evaluation.actions.map(async ({ type, params }, actionIndex) => {
            const place = { runId: newId(), agentId: newId(), contactId, actionIndex }
            const proposal = { ...place, identityId, type, requireApproval }
            const { status, guardrails, error } = await assess(tenant, proposal, now)
            return { type, params: { ...params }, identity_id: identityId, status, guardrails, error }
          })
          const { reasoning, dropped } = evaluation
          const proposed_actions = await Promise.all(proposed)
          const said = { status: 'evaluated' as const, reasoning, error: dropped.join(' ') || null, proposed_actions }
          return { tried: said, usage, capNotice: null }
        } catch (error) {
          if (signal.aborted || error instanceof RunFailure) throw error
          if (error instanceof CapReached) {
            return { tried: { ...tried, status: 'skipped' }, usage, capNotice: error.message }
          }
          if (error instanceof EvaluationError) usage = error.usage
          return { tried: { ...tried, status: 'failed', error: messageOf(error) }, usage, capNotice: null }
        } finally {
          await costs.charge(usage.costUsd)
        }
      }
    },
  }
}

/** A contact as trials show it. */
export function triedContact({ contactId, properties }: ContactContext): DryRunObject['contacts'][number]['contact'] {
  const text = (key: string) => (typeof properties[key] === 'string' ? properties[key] : null)
  return {
    contact_id: contactId,
    _id: contactId,
    email: text('email'),
    firstname: text('firstname'),
    lastname: text('lastname'),
    company: text('company'),
  }
}

/** The sum of what several evaluations used. */
export function addUp(usages: readonly Usage[]): DryRunObject['usage'] {
  const sum = (name: keyof Usage) => usages.reduce((total, usage) => total + usage[name], 0)
  return { input_tokens: sum('inputTokens'), output_tokens: sum('outputTokens'), cost_usd: sum('costUsd') }
}
