import { CLAIM } from '../platform/postgres/lease.ts'
import type { Tables } from '../platform/postgres/table-rules.ts'
import { sealedPlace } from './connections.ts'
import { eraseFromConnections } from './erase.ts'

export const CONNECTOR_TABLES = {
  connections: {
    key: ['connection_id'],
    erasedWith: 'connection_errors',
    export: {},
    sealed: {
      sealed: ({ tenant_id = '', connection_id = '' }) => sealedPlace(tenant_id, connection_id),
    },
  },
  source_accounts: { key: ['source'], export: {} },
  connection_runs: { key: ['connection_id', 'run_id'], export: {} },
  connection_errors: { key: ['connection_id', 'error_id'], erase: eraseFromConnections, export: {} },
  connection_activities: {
    key: ['activity_id'],
    contact: 'moves',
    // Texts that wait: those of agents' actions have the same.
    erasedWith: 'connection_errors',
    export: { without: CLAIM },
  },
  connection_outbox: { key: ['connection_id', 'contact_id'], contact: 'dies', export: 'none' },
} satisfies Tables
