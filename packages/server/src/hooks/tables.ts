import { CLAIM } from '../platform/postgres/lease.ts'
import type { Tables } from '../platform/postgres/table-rules.ts'
import { DAY_MS } from '../platform/time.ts'
import { eraseFromHookBodies } from './erase.ts'
import { hookSecretPlace, hookTokenPlace } from './hooks.ts'

export const HOOK_TABLES = {
  hooks: {
    key: ['hook_id'],
    export: { without: ['token_hash', 'previous_token_hash'] },
    sealed: {
      secret_sealed: ({ tenant_id = '', hook_id = '' }) => hookSecretPlace(tenant_id, hook_id),
      token_sealed: ({ tenant_id = '', hook_id = '' }) => hookTokenPlace(tenant_id, hook_id),
    },
  },
  hook_bodies: {
    key: ['body_id'],
    contact: 'followed',
    company: 'stays',
    erase: eraseFromHookBodies,
    export: { without: CLAIM, rowsPerPage: 50 },
    // Bodies contain personal data, and are needed only to write and fix mappings.
    retention: { column: 'received_at', ms: 30 * DAY_MS },
  },
} satisfies Tables
