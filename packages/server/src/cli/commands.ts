import { revokeApiKey } from '../access/api-keys.ts'
import { addDomain } from '../access/domains.ts'
import { addApiKey } from '../access/keys-of-tenant.ts'
import { failedRowsOf, type ImportSummary, importContacts } from '../imports/import-contacts.ts'
import { countRows } from '../journal/batches.ts'
import { retryRefused } from '../journal/refused.ts'
import { notFound, ServiceError } from '../platform/errors.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { parseTimestamp } from '../platform/time.ts'
import { seedTenant } from '../seed/seed.ts'
import { AGENT_SETTINGS_COMMANDS } from './agent-settings-commands.ts'
import { about, audited } from './audited.ts'
import { type Command, existingTenant, numberOf, optional, required, tenant, type Values } from './command.ts'
import { diagnose } from './doctor.ts'
import { IDENTITY_COMMANDS } from './identity-commands.ts'
import { MAILBOX_COMMANDS } from './mailbox-commands.ts'
import { OPERATION_COMMANDS } from './operation-commands.ts'
import { SECRET_COMMANDS } from './secret-commands.ts'
import { SOURCE_COMMANDS } from './source-commands.ts'
import { SUPPRESSION_COMMANDS } from './suppression-commands.ts'
import { TENANT_COMMANDS } from './tenant-commands.ts'
import { USER_COMMANDS } from './user-commands.ts'

/** Everything that `cdsctl` can do; the keys are the words of the call. */
export const COMMANDS: Record<string, Command> = {
  ...TENANT_COMMANDS,
  ...USER_COMMANDS,
  'key create': {
    summary: 'Create an API key; it is shown this once',
    options: { tenant, name: required('NAME'), scopes: required('a,b|all'), expires: optional('TIMESTAMP') },
    run: async (session, values, now) => {
      const tenantId = await existingTenant(session.stores, values)
      const scopes = String(values.scopes)
        .split(',')
        .map((scope) => scope.trim())
      const expiresAt = expiryOf(values.expires)
      const key = { name: String(values.name), scopes, ...(expiresAt ? { expiresAt } : {}) }
      const { keyId, apiKey } = await audited(
        session,
        tenantId,
        now,
        (tx) => addApiKey(tx, key, now),
        (made) => ({ ...about('api_key', 'created', made.keyId), details: { name: key.name, scopes } }),
      )
      return { key_id: keyId, api_key: apiKey }
    },
  },
  'key revoke': {
    summary: 'Revoke an API key on every process at once',
    options: { tenant, key: required('KEY_ID') },
    run: async (session, values, now) => {
      const tenantId = await existingTenant(session.stores, values)
      const revoke = async (_tx: Tenant, database: Database) => {
        const revoked = await revokeApiKey(database, tenantId, String(values.key), now)
        if (!revoked) throw notFound('live API key')
      }
      await audited(session, tenantId, now, revoke, () => about('api_key', 'revoked', String(values.key)))
      return { key_id: String(values.key), revoked: true }
    },
  },
  'domain add': {
    summary: 'Add a domain whose pages may send events',
    options: { tenant, domain: required('DOMAIN'), verified: { type: 'boolean' } },
    run: async (session, values, now) => {
      const tenantId = await existingTenant(session.stores, values)
      const isVerified = values.verified === true
      const added = await audited(
        session,
        tenantId,
        now,
        (_tx, database) => addDomain(database, tenantId, String(values.domain), isVerified, now),
        ({ domainId, domain, verified }) => ({
          ...about('domain', isVerified ? 'verified' : 'claimed', domainId),
          details: { domain, verified },
        }),
      )
      return {
        domain_id: added.domainId,
        domain: added.domain,
        txt_name: added.txtName,
        txt_value: added.txtValue,
        verified: added.verified,
      }
    },
  },
  ...OPERATION_COMMANDS,
  ...AGENT_SETTINGS_COMMANDS,
  ...SOURCE_COMMANDS,
  ...MAILBOX_COMMANDS,
  ...IDENTITY_COMMANDS,
  ...SUPPRESSION_COMMANDS,
  ...SECRET_COMMANDS,
  seed: {
    summary: 'Fill a tenant with sample data',
    options: {
      tenant,
      contacts: optional('NUMBER'),
      companies: optional('NUMBER'),
      events: optional('NUMBER'),
      days: optional('NUMBER'),
      seed: optional('NUMBER'),
    },
    run: async (session, values, now) => {
      const tenantId = await existingTenant(session.stores, values)
      return seedTenant(session.tenant(tenantId), {
        contacts: numberOf(values, 'contacts', 500),
        companies: numberOf(values, 'companies', 80),
        events: numberOf(values, 'events', 20_000),
        days: numberOf(values, 'days', 28),
        seed: numberOf(values, 'seed', 1),
        site: 'www.example.com',
        now,
        onProgress: (message) => console.error(`· ${message}`),
      })
    },
  },
  'import contacts': {
    summary: 'Import the contacts of a CSV file; what became of each row is written to FILE.results.csv',
    argument: 'FILE',
    options: { tenant, results: optional('FILE') },
    run: async (session, values) => {
      const tenantId = await existingTenant(session.stores, values)
      const file = String(values.file)
      const summary = await importContacts(session.tenant(tenantId), session.writing(), {
        file,
        resultsFile: values.results === undefined ? `${file}.results.csv` : String(values.results),
        onProgress: (message) => console.error(`· ${message}`),
      })
      return { ...summary }
    },
    failuresOf: (answer) => failedRowsOf(answer as unknown as ImportSummary),
  },
  'events retry': {
    summary: 'Try again to store the events that were set aside',
    options: {},
    run: async ({ stores }) => ({
      retried: await retryRefused(stores.database),
      still_set_aside: (await countRows(stores.database)).setAside,
    }),
  },
  migrate: {
    summary: 'Bring both engines up to date',
    options: {},
    // Opening the session has done it.
    run: async () => ({ migrated: true }),
  },
  doctor: {
    summary: 'Check the engines and say what is wrong',
    options: {},
    run: (session) => diagnose(session),
  },
}

function expiryOf(text: Values[string]): Date | undefined {
  if (text === undefined) return undefined
  const date = parseTimestamp(String(text), 'end')
  if (!date) throw new ServiceError(400, 'invalid_option', '--expires must be an ISO 8601 timestamp or a date.')
  return date
}
