import { type Actor, audit } from '../../operations/audit.ts'
import { conflict } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { assess, existingIdentity } from '../actions/propose.ts'
import { type AgentConfiguration, MAX_CONTACTS } from '../agent.ts'
import { chooseReasoner, type ReasonerDependencies } from '../reasoning/choose-reasoner.ts'
import { type ContactContext, readContexts } from '../reasoning/context.ts'
import { CapReached, EvaluationError, messageOf, NO_USAGE, RunFailure, type Usage } from '../reasoning/reasoner.ts'
import { chooseContacts } from './choose.ts'
import { costCapsOf, requireKnownCosts } from './costs.ts'
import type { DryRunObject } from './dry-run-object.ts'
import { PrepaidCosts } from './prepaid-costs.ts'
import { senderOf } from './sender.ts'

/** Contacts of a dry run. */
export const DRY_RUN_CONTACTS = 3
/** Dry runs of a tenant at the same time in a process: their callers wait for them. */
const AT_ONCE = 3
const WATCH_MS = 500

const underWay = new Map<string, number>()

interface DryRunRequest {
  configuration: AgentConfiguration
  /** null: the first contacts of the audience. */
  contactIds: readonly string[] | null
  actor: Actor
  now: Date
  isGivenUp(): boolean
}

type ContactResult = DryRunObject['contacts'][number]

/**
 * Evaluates a few contacts as a run of the agent would, and returns what it would propose. Nothing is stored but the cost
 * of a model and, if one was called, an audit entry.
 * @throws ServiceError 409 `too_many_runs`; 409 `run_failed` for what would fail a run, such as an invalid key.
 */
export async function dryRun(
  tenant: Tenant,
  dependencies: ReasonerDependencies,
  request: DryRunRequest,
): Promise<DryRunObject> {
  const count = underWay.get(tenant.id) ?? 0
  if (count >= AT_ONCE) throw conflict('too_many_runs', `${AT_ONCE} dry runs are in progress. Try again when one ends.`)
  underWay.set(tenant.id, count + 1)
  const givenUp = new AbortController()
  const watching = setInterval(() => request.isGivenUp() && givenUp.abort(), WATCH_MS)
  try {
    return await evaluate(tenant, dependencies, request, givenUp.signal)
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

async function evaluate(
  tenant: Tenant,
  dependencies: ReasonerDependencies,
  { configuration, actor, now, ...request }: DryRunRequest,
  signal: AbortSignal,
): Promise<DryRunObject> {
  const { reasoner, isStandIn } = chooseReasoner(
    tenant,
    dependencies,
    configuration,
    await senderOf(tenant, configuration),
  )
  const requireApproval = isStandIn || (configuration.playbook.require_approval ?? true)
  const caps = await costCapsOf(tenant, configuration)
  requireKnownCosts(reasoner, caps)
  const contactIds = request.contactIds ?? (await firstOfAudience(tenant, configuration, now))
  const contexts = await readContexts(tenant, contactIds)
  const prepared = await reasoner.prepare([...contexts.values()], now)
  const costs = new PrepaidCosts(tenant, caps, now)
  const usage = { ...NO_USAGE }
  const notices = [...reasoner.notices]
  const identityId = await tenant.transaction((tx) => existingIdentity(tx, configuration.identity_id))

  async function evaluateOne(contactId: string, context: ContactContext): Promise<ContactResult> {
    const result = {
      ...{ contact_id: contactId, contact: contactOf(context), reasoning: null },
      ...{ proposed_actions: [], tool_calls: [] },
    }
    let spent: Usage = NO_USAGE
    try {
      const evaluation = await prepared(context, signal, (usd) => costs.reserve(usd))
      spent = evaluation.usage
      const proposed = evaluation.actions.map(async ({ type, params, checks = [] }, actionIndex) => {
        const place = { runId: newId(), agentId: newId(), contactId, actionIndex }
        const proposal = { ...place, identityId, type, requireApproval, checks }
        const { status, guardrails, error } = await assess(tenant, proposal, now)
        return { type, params: { ...params }, identity_id: identityId, status, guardrails, error }
      })
      return {
        ...result,
        status: 'evaluated',
        reasoning: evaluation.reasoning,
        error: evaluation.dropped.join(' ') || null,
        proposed_actions: await Promise.all(proposed),
        tool_calls: [...(evaluation.toolCalls ?? [])],
      }
    } catch (error) {
      if (signal.aborted || error instanceof RunFailure) throw error
      if (error instanceof CapReached) {
        notices.push(error.message)
        return { ...result, status: 'skipped', error: null }
      }
      if (error instanceof EvaluationError) spent = error.usage
      const tool_calls = error instanceof EvaluationError ? [...error.toolCalls] : []
      return { ...result, status: 'failed', error: messageOf(error), tool_calls }
    } finally {
      await costs.charge(spent.costUsd)
      usage.inputTokens += spent.inputTokens
      usage.outputTokens += spent.outputTokens
      usage.costUsd += spent.costUsd
    }
  }

  const contacts: ContactResult[] = []
  try {
    // One after another: each knows what the one before has cost.
    for (const contactId of contactIds) {
      const context = contexts.get(contactId)
      if (context && notices.length === reasoner.notices.length) contacts.push(await evaluateOne(contactId, context))
    }
  } finally {
    if (reasoner.provider !== 'template') {
      const { provider, model } = reasoner
      const details = { provider, model, contacts: contacts.length, cost_usd: usage.costUsd }
      const entry = { action: 'agent.dry_run', subjectKind: 'agent', subjectId: null, details }
      await audit(tenant, { actor, ...entry }, now)
    }
  }
  return {
    provider: reasoner.provider,
    model: reasoner.model,
    notices: contacts.length > 0 ? notices : [...notices, 'No contact was evaluated: the audience is empty.'],
    contacts,
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens, cost_usd: usage.costUsd },
  }
}

/** The contacts that the first run of the agent would begin with. */
async function firstOfAudience(tenant: Tenant, { monitoring }: AgentConfiguration, now: Date): Promise<string[]> {
  const count = Math.min(DRY_RUN_CONTACTS, monitoring.max_contacts_per_run ?? MAX_CONTACTS.default)
  // The id of an agent that has never run.
  const choose = () => chooseContacts(tenant, newId(), { ...monitoring, max_contacts_per_run: count }, now)
  return tenant.heavyRead(choose)
}

function contactOf({ contactId, properties }: ContactContext): ContactResult['contact'] {
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
