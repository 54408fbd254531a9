import type { Context, FurtherScopes, Values } from '../operations/declare.ts'
import { fieldOf, READS_DATA } from '../operations/further-scopes.ts'
import { isOutbound, typesOf } from './action-types.ts'
import { type AgentConfiguration, configurationOf } from './agent.ts'
import { findAgent } from './agents.ts'
import { applyInput } from './configuration.ts'
import { playbookTemplates } from './playbooks/templates.ts'

/**
 * What an agent opens to whoever chooses its settings: its runs and proposals show what it reads, and it writes to contacts
 * what its playbook says. `opens` gets settings that were sent, and may be invalid, or those of an agent.
 */
interface Way extends Required<Pick<FurtherScopes, 'scopes' | 'when'>> {
  opens(settings: unknown): boolean
}

/** Its runs read the contacts of the filter or of its triggers, with their events. Without either, whoever triggers a run chooses them. */
const READS_AUDIENCE: Way = {
  scopes: ['contacts:read', 'events:read'],
  when: 'for an agent with a `monitoring.filter` or `monitoring.triggers`',
  opens: (settings) => {
    const monitoring = fieldOf(settings, 'monitoring')
    return ['filter', 'triggers'].some((name) => (fieldOf(monitoring, name) ?? null) !== null)
  },
}

/** Notes and updates of properties execute without a person. */
const WRITES_TO_CONTACTS: Way = {
  scopes: ['contacts:write'],
  when: 'for an agent with a capability that writes to contacts: `notes` or `crm_sync`',
  opens: (settings) => {
    const capabilities = fieldOf(settings, 'capabilities')
    return Array.isArray(capabilities) && !typesOf(capabilities).every(isOutbound)
  },
}

/** Its messages are sent without a person. */
const APPROVES_ITSELF: Way = {
  scopes: ['agents:approve'],
  when: 'for an agent with `playbook.require_approval: false`',
  opens: (settings) => fieldOf(fieldOf(settings, 'playbook'), 'require_approval') === false,
}

/** Whoever chooses the model's server receives what agents know about contacts. */
const HAS_OWN_SERVER: Way = {
  scopes: READS_DATA,
  when: 'for an agent with `llm_config.base_url`',
  opens: (settings) => typeof fieldOf(fieldOf(settings, 'llm_config'), 'base_url') === 'string',
}

/** Its outcomes say how many contacts have such an event. */
const COUNTS_EVENTS: Way = {
  scopes: ['events:read'],
  when: 'for an agent with a `goal`',
  opens: (settings) => (fieldOf(settings, 'goal') ?? null) !== null,
}

const WAYS = [READS_AUDIENCE, WRITES_TO_CONTACTS, APPROVES_ITSELF, HAS_OWN_SERVER, COUNTS_EVENTS]

export const ofNewAgent: readonly FurtherScopes[] = WAYS.map(({ scopes, when, opens }) => ({
  scopes,
  when,
  ofSent: (sent) => opens(withCapabilities(sent)),
}))

/** A dry run writes and sends nothing. It always reads contacts, which the request chooses. */
export const ofDryRun: readonly FurtherScopes[] = [
  { scopes: ['agents:trigger', 'contacts:read', 'events:read'] },
  { scopes: HAS_OWN_SERVER.scopes, when: 'with `llm_config.base_url`', ofSent: HAS_OWN_SERVER.opens },
]

/** They depend on the agent as it is after the change. Turning it off needs none. */
export const ofChangedAgent: readonly FurtherScopes[] = WAYS.map(({ scopes, when, opens }) => ({
  scopes,
  when,
  ofSent: opens,
  ofRecord: async (context, input) => {
    const { agent_id: agentId, ...changes } = input as Values & { agent_id: string }
    if (Object.keys(changes).join() === 'enabled' && changes.enabled === false) return false
    const configuration = await configurationFor(context, agentId)
    return configuration !== undefined && opens(applyInput(configuration, changes))
  },
}))

async function configurationFor({ tenant }: Context, agentId: string): Promise<AgentConfiguration | undefined> {
  const row = await findAgent(tenant, agentId)
  return row && configurationOf(row)
}

/** The settings of a new agent with the capabilities of its template if it has none of its own. */
function withCapabilities(sent: unknown): unknown {
  const template = playbookTemplates().get(String(fieldOf(sent, 'playbook_template')))
  return { capabilities: template?.capabilities, ...(sent as object) }
}
