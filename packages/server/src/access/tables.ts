import type { Tables } from '../platform/postgres/table-rules.ts'
import { DAY_MS, HOUR_MS } from '../platform/time.ts'
import { identitySecretPlace } from './identification-settings.ts'
import { deleteExpiredGrants } from './oauth/grants.ts'
import { serviceSecretPlace } from './service-secrets.ts'

export const ACCESS_TABLES = {
  tenants: { key: [] },
  users: { key: ['id'] },
  tenant_users: { key: ['user_id'], export: {} },
  user_accounts: { key: ['id'] },
  user_sessions: { key: ['id'], retention: { column: 'expires_at', ms: 0 } },
  user_verifications: { key: ['id'], retention: { column: 'expires_at', ms: 0 } },
  user_two_factors: { key: ['id'] },
  user_used_codes: { key: ['user_id', 'code'], retention: { column: 'expires_at', ms: 0 } },
  // A network becomes unknown when a person has not signed in from it for this long.
  user_networks: { key: ['user_id', 'network'], retention: { column: 'seen_at', ms: 90 * DAY_MS } },
  // No limit counts mails for longer.
  sent_mails: { key: [], retention: { column: 'sent_at', ms: HOUR_MS } },
  service_secrets: { key: ['name'], sealed: { sealed: ({ name = '' }) => serviceSecretPlace(name) } },
  api_keys: { key: ['key_id'], export: { without: ['key_hash'] } },
  oauth_clients: { key: ['client_id'] },
  oauth_grants: { key: ['grant_id'], export: { without: ['family_hash'] }, retention: deleteExpiredGrants },
  oauth_tokens: { key: ['token_id'], export: 'none' },
  invitations: {
    key: ['invitation_id'],
    export: { without: ['token_hash'] },
    retention: { column: 'expires_at', ms: 0 },
  },
  domains: { key: ['domain_id'], export: {} },
  identification_settings: {
    key: [],
    export: {},
    sealed: {
      secret_sealed: ({ tenant_id = '' }) => identitySecretPlace(tenant_id),
      previous_secret_sealed: ({ tenant_id = '' }) => identitySecretPlace(tenant_id),
    },
  },
} satisfies Tables
