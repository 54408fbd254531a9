import { SEALED_SETTINGS_COLUMNS } from '../access/identification-settings.ts'
import { SEALED_SERVICE_COLUMNS } from '../access/service-secrets.ts'
import { SEALED_CONNECTION_COLUMNS } from '../connectors/connections.ts'
import { SEALED_HOOK_COLUMNS } from '../hooks/hooks.ts'
import { SEALED_EMAIL_COLUMNS } from '../identities/email-secrets.ts'
import { SEALED_SESSION_COLUMNS } from '../identities/social/sessions.ts'
import { SEALED_RESPONSE_COLUMNS } from '../operations/idempotency.ts'
import { SEALED_AUTHORIZATION_COLUMNS } from '../providers/authorizations.ts'
import { SEALED_CLIENT_COLUMNS } from '../providers/clients.ts'
import { SEALED_DESTINATION_COLUMNS } from '../warehouse/destination.ts'
import { SEALED_SUBSCRIPTION_COLUMNS } from '../webhooks/sealed-columns.ts'

/** Every column with a ciphertext, for `secret rotate`. `test/guide/2-a-table.test.ts` compares the list with the database. */
export const SEALED_COLUMNS = [
  ...SEALED_SUBSCRIPTION_COLUMNS,
  ...SEALED_HOOK_COLUMNS,
  ...SEALED_EMAIL_COLUMNS,
  ...SEALED_CLIENT_COLUMNS,
  ...SEALED_AUTHORIZATION_COLUMNS,
  ...SEALED_CONNECTION_COLUMNS,
  ...SEALED_SESSION_COLUMNS,
  ...SEALED_SETTINGS_COLUMNS,
  ...SEALED_DESTINATION_COLUMNS,
  ...SEALED_RESPONSE_COLUMNS,
  ...SEALED_SERVICE_COLUMNS,
]
