import { type Actor, audit } from '../../operations/audit.ts'
import { newId } from '../../platform/ids.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type AgentConfiguration, MAX_CONTACTS } from '../agent.ts'
import type { ReasonerDependencies } from '../reasoning/choose-reasoner.ts'
import { readContexts } from '../reasoning/context.ts'
import type { Usage } from '../reasoning/reasoner.ts'
import { chooseContacts } from './choose.ts'
import type { DryRunObject } from './dry-run-object.ts'
import { PrepaidCosts } from './prepaid-costs.ts'
import { addUp, trialOf, triedContact, whileCallerWaits } from './trial.ts'

/** Contacts of a dry run. */
export const DRY_RUN_CONTACTS = 3

interface DryRunRequest {
  configuration: AgentConfiguration
  /** null: the first contacts of the audience. */
  contactIds: readonly string[] | null
  actor: Actor
  now: Date
  isGivenUp(): boolean
}

/**
 * Evaluates a few contacts as a run of the agent would, and returns what it would propose. Nothing is stored but the cost
 * of a model and, if one was called, an audit entry.
 * @throws ServiceError 409 `too_many_runs`; 409 `run_failed` for what would fail a run, such as an invalid key.
 */
export function dryRun(
  tenant: Tenant,
  dependencies: ReasonerDependencies,
  request: DryRunRequest,
): Promise<DryRunObject> {
  return whileCallerWaits(tenant, request.isGivenUp, (signal) => evaluate(tenant, dependencies, request, signal))
}

async function evaluate(
  tenant: Tenant,
  dependencies: ReasonerDependencies,
  { configuration, actor, now, ...request }: DryRunRequest,
  signal: AbortSignal,
): Promise<DryRunObject> {
  const { reasoner, caps, prepare } = await trialOf(tenant, dependencies, configuration)
  const contactIds = request.contactIds ?? (await firstOfAudience(tenant, configuration, now))
  const contexts = await readContexts(tenant, contactIds)
  const tryOn = await prepare([...contexts.values()], now)
  const costs = new PrepaidCosts(tenant, caps, now)
  const usages: Usage[] = []
  const notices = [...reasoner.notices]
  const contacts: DryRunObject['contacts'] = []
  try {
    // One after another: each knows what the one before has cost.
    for (const contactId of contactIds) {
      const context = contexts.get(contactId)
      if (!context) continue
      const { tried, usage, capNotice } = await tryOn(context, costs, signal)
      usages.push(usage)
      contacts.push({ contact_id: contactId, contact: triedContact(context), ...tried })
      if (capNotice === null) continue
      notices.push(capNotice)
      break
    }
  } finally {
    if (reasoner.provider !== 'template') {
      const { provider, model } = reasoner
      const details = { provider, model, contacts: contacts.length, cost_usd: addUp(usages).cost_usd }
      const entry = { action: 'agent.dry_run', subjectKind: 'agent', subjectId: null, details }
      await audit(tenant, { actor, ...entry }, now)
    }
  }
  return {
    provider: reasoner.provider,
    model: reasoner.model,
    notices: contacts.length > 0 ? notices : [...notices, 'No contact was evaluated: the audience is empty.'],
    contacts,
    usage: addUp(usages),
  }
}

/** The contacts that the first run of the agent would begin with. */
async function firstOfAudience(tenant: Tenant, { monitoring }: AgentConfiguration, now: Date): Promise<string[]> {
  const count = Math.min(DRY_RUN_CONTACTS, monitoring.max_contacts_per_run ?? MAX_CONTACTS.default)
  // The id of an agent that has never run.
  const choose = () => chooseContacts(tenant, newId(), { ...monitoring, max_contacts_per_run: count }, now)
  return tenant.heavyRead(choose)
}
