import { identitySecretPlace } from '../access/identification-settings.ts'
import { serviceSecretPlace } from '../access/service-secrets.ts'
import { sealedPlace } from '../connectors/connections.ts'
import { hookSecretPlace } from '../hooks/hooks.ts'
import { emailPlace } from '../identities/email-secrets.ts'
import { codePlace, credentialsPlace } from '../identities/social/sessions.ts'
import { answerPlace } from '../operations/idempotency.ts'
import type { SealedColumn } from '../platform/crypto/reseal.ts'
import { verifierPlace } from '../providers/authorizations.ts'
import { clientSecretPlace } from '../providers/clients.ts'
import { secretPlace as warehouseSecretPlace } from '../warehouse/destination.ts'
import { headersPlace, secretPlace, urlPlace } from '../webhooks/sealed-columns.ts'

const socialSession = { table: 'social_sessions', key: ['tenant_id', 'session_id'] }
const subscription = { table: 'webhook_subscriptions', key: ['tenant_id', 'subscription_id'] }

/** Every column with a ciphertext, for `secret rotate`. A test compares the list with the database. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    ...subscription,
    column: 'secret_sealed',
    place: ({ tenant_id = '', subscription_id = '' }) => secretPlace(tenant_id, subscription_id),
  },
  {
    ...subscription,
    column: 'previous_secret_sealed',
    place: ({ tenant_id = '', subscription_id = '' }) => secretPlace(tenant_id, subscription_id),
  },
  {
    ...subscription,
    column: 'headers_sealed',
    place: ({ tenant_id = '', subscription_id = '' }) => headersPlace(tenant_id, subscription_id),
  },
  {
    ...subscription,
    column: 'url_sealed',
    place: ({ tenant_id = '', subscription_id = '' }) => urlPlace(tenant_id, subscription_id),
  },
  {
    table: 'hooks',
    key: ['tenant_id', 'hook_id'],
    column: 'secret_sealed',
    place: ({ tenant_id = '', hook_id = '' }) => hookSecretPlace(tenant_id, hook_id),
  },
  {
    table: 'email_accounts',
    key: ['tenant_id', 'identity_id'],
    column: 'sealed',
    place: ({ tenant_id = '', identity_id = '' }) => emailPlace(tenant_id, identity_id),
  },
  {
    table: 'provider_clients',
    key: ['tenant_id', 'provider'],
    column: 'secret_sealed',
    place: ({ tenant_id = '', provider = '' }) => clientSecretPlace(tenant_id, provider),
  },
  {
    table: 'authorizations',
    key: ['tenant_id', 'state_hash'],
    column: 'verifier_sealed',
    place: ({ tenant_id = '', state_hash = '' }) => verifierPlace(tenant_id, state_hash),
  },
  {
    table: 'connections',
    key: ['tenant_id', 'connection_id'],
    column: 'sealed',
    place: ({ tenant_id = '', connection_id = '' }) => sealedPlace(tenant_id, connection_id),
  },
  {
    ...socialSession,
    column: 'credentials_sealed',
    place: ({ tenant_id = '', session_id = '' }) => credentialsPlace(tenant_id, session_id),
  },
  {
    ...socialSession,
    column: 'code_sealed',
    place: ({ tenant_id = '', session_id = '' }) => codePlace(tenant_id, session_id),
  },
  ...['secret_sealed', 'previous_secret_sealed'].map((column) => ({
    table: 'identification_settings',
    key: ['tenant_id'],
    column,
    place: ({ tenant_id = '' }) => identitySecretPlace(tenant_id),
  })),
  {
    table: 'warehouse_destinations',
    key: ['tenant_id', 'destination_id'],
    column: 'secret_sealed',
    place: ({ tenant_id = '', destination_id = '' }) => warehouseSecretPlace(tenant_id, destination_id),
  },
  {
    table: 'idempotency_keys',
    key: ['tenant_id', 'caller', 'key'],
    column: 'answer_sealed',
    place: ({ tenant_id = '', caller = '', key = '' }) => answerPlace(tenant_id, caller, key),
  },
  {
    table: 'service_secrets',
    key: ['name'],
    column: 'sealed',
    place: ({ name = '' }) => serviceSecretPlace(name),
  },
]
