import { CLAIM } from '../platform/postgres/lease.ts'
import type { Tables } from '../platform/postgres/table-rules.ts'
import { DAY_MS, HOUR_MS } from '../platform/time.ts'
import { eraseFromRuns } from './erase.ts'
import { COOLDOWN_HOURS } from './triggers/trigger.ts'

export const AGENT_TABLES = {
  agents: { key: ['agent_id'], export: {} },
  // Like the agent, it has texts of the team. Those before the latest 1,000 are deleted when one is added.
  agent_playbook_versions: { key: ['agent_id', 'version'], export: {} },
  // It has ids of owners, which lead to contacts only while they are linked.
  agent_looks: {
    key: ['look_id'],
    hasOnlyIds: true,
    export: 'none',
    retention: { column: 'seen_at', ms: COOLDOWN_HOURS.max * HOUR_MS + 2 * DAY_MS },
  },
  // Of the contacts, it has the ids that were asked for.
  agent_runs: { key: ['run_id'], contact: 'followed', erasedWith: 'agent_actions', export: { without: CLAIM } },
  agent_run_contacts: {
    key: ['run_id', 'contact_id'],
    contact: 'followed',
    erasedWith: 'agent_actions',
    export: {},
  },
  agent_actions: {
    key: ['run_id', 'contact_id', 'action_index'],
    contact: 'followed',
    erase: eraseFromRuns,
    export: { without: CLAIM },
  },
  agent_settings: { key: [], export: {} },
  agent_costs: { key: ['month'], export: {} },
  agent_outreach: {
    key: ['run_id', 'contact_id', 'action_index'],
    contact: 'followed',
    hasOnlyIds: true,
    export: {},
  },
} satisfies Tables
