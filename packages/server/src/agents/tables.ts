import { CLAIM } from '../platform/postgres/lease.ts'
import type { Tables } from '../platform/postgres/table-rules.ts'
import { eraseFromRuns } from './erase.ts'

export const AGENT_TABLES = {
  agents: { key: ['agent_id'], export: {} },
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
