import type { Static, TObject } from 'typebox'
import { type Actor, audit } from '../../operations/audit.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { AgentConfiguration } from '../agent.ts'
import type { ReasonerDependencies } from '../reasoning/choose-reasoner.ts'
import { type ContactContext, readContexts } from '../reasoning/context.ts'
import type { Usage } from '../reasoning/reasoner.ts'
import { PrepaidCosts } from '../runs/prepaid-costs.ts'
import { addUp, trialOf, triedContact, whileCallerWaits } from '../runs/trial.ts'
import type { Replay } from './replay-object.ts'

type ReplayObject = Static<TObject<typeof Replay>>

/** No contact is begun after this time, because the caller waits. */
const BEGIN_SECONDS_MAX = 60

export interface ReplayRequest {
  agentId: string
  playbookVersion: number
  current: AgentConfiguration
  proposed: AgentConfiguration
  contactIds: readonly string[]
  actor: Actor
  now: Date
  isGivenUp(): boolean
}

/**
 * Evaluates contacts with the stored playbook of an agent and with another, as dry runs. Nothing is stored but the cost of a
 * model and, if one was called, an audit entry. Both together are under the cap of one run.
 * @throws ServiceError 409 `too_many_runs`, 409 `run_failed`.
 */
export function replay(
  tenant: Tenant,
  dependencies: ReasonerDependencies,
  request: ReplayRequest,
): Promise<ReplayObject> {
  return whileCallerWaits(tenant, request.isGivenUp, (signal) => compare(tenant, dependencies, request, signal))
}

async function compare(
  tenant: Tenant,
  dependencies: ReasonerDependencies,
  { agentId, playbookVersion, contactIds, actor, now, ...settings }: ReplayRequest,
  signal: AbortSignal,
): Promise<ReplayObject> {
  const current = await trialOf(tenant, dependencies, settings.current)
  const proposed = await trialOf(tenant, dependencies, settings.proposed)
  const { reasoner } = current
  const contexts = await readContexts(tenant, contactIds)
  const known = contactIds.flatMap((id) => contexts.get(id) ?? [])
  const sides = {
    current: await current.prepare(known, now),
    proposed: await proposed.prepare(known, now),
  }
  const costs = new PrepaidCosts(tenant, proposed.caps, now)
  const usages: Usage[] = []
  const notices = new Set([...reasoner.notices, ...proposed.reasoner.notices])
  const found = new Map<string, ReplayObject['items'][number]>()
  const waiting = [...known]
  const failing = new AbortController()
  const stopped = AbortSignal.any([signal, failing.signal])
  const until = Date.now() + BEGIN_SECONDS_MAX * 1_000
  let isCapped = false

  async function compareOn(context: ContactContext, own: PrepaidCosts): Promise<void> {
    const tryWith = async (side: keyof typeof sides) => {
      const { tried, usage, capNotice } = await sides[side](context, own, stopped)
      usages.push(usage)
      if (capNotice !== null) {
        notices.add(capNotice)
        isCapped = true
      }
      return tried
    }
    const { contactId } = context
    const pair = { current: await tryWith('current'), proposed: await tryWith('proposed') }
    found.set(contactId, { contact_id: contactId, contact: triedContact(context), ...pair })
  }

  async function work(): Promise<void> {
    const own = costs.beside()
    while (!isCapped && !stopped.aborted && Date.now() < until) {
      const context = waiting.shift()
      if (!context) return
      await compareOn(context, own)
    }
  }

  try {
    const workers = Array.from({ length: reasoner.concurrency }, () =>
      work().catch((error: unknown) => {
        failing.abort()
        throw error
      }),
    )
    const ended = await Promise.allSettled(workers)
    const failed = ended.find((each) => each.status === 'rejected')
    if (failed) throw failed.reason
  } finally {
    if (reasoner.provider !== 'template') {
      const { provider, model } = reasoner
      const details = { provider, model, contacts: found.size, cost_usd: addUp(usages).cost_usd }
      await audit(tenant, { actor, action: 'agent.replayed', subjectKind: 'agent', subjectId: agentId, details }, now)
    }
  }
  if (known.length === 0) notices.add('No contact was evaluated: the agent has evaluated none that still matches.')
  else if (waiting.length > 0 && !isCapped) notices.add(leftOut(waiting.length))
  return {
    provider: reasoner.provider,
    model: reasoner.model,
    notices: [...notices],
    playbook_version: playbookVersion,
    items: known.flatMap(({ contactId }) => found.get(contactId) ?? []),
    usage: addUp(usages),
  }
}

function leftOut(contacts: number): string {
  const which = contacts === 1 ? '1 contact was' : `${contacts} contacts were`
  return `${which} left out, because the model took longer than ${BEGIN_SECONDS_MAX} seconds. Ask for fewer contacts.`
}
