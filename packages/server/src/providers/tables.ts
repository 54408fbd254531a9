import type { Tables } from '../platform/postgres/table-rules.ts'
import { verifierPlace } from './authorizations.ts'
import { clientSecretPlace } from './clients.ts'

export const PROVIDER_TABLES = {
  provider_clients: {
    key: ['provider'],
    export: {},
    sealed: { secret_sealed: ({ tenant_id = '', provider = '' }) => clientSecretPlace(tenant_id, provider) },
  },
  // Until it expires, a used one is reported as used.
  authorizations: {
    key: ['state_hash'],
    export: 'none',
    retention: { column: 'expires_at', ms: 0 },
    sealed: { verifier_sealed: ({ tenant_id = '', state_hash = '' }) => verifierPlace(tenant_id, state_hash) },
  },
} satisfies Tables
