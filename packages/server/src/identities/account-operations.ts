import Type from 'typebox'
import { operationsWith } from '../operations/declare.ts'
import { CARRIES_MAIL } from '../operations/further-scopes.ts'
import { Id } from '../platform/http/responses.ts'
import { personal } from '../platform/personal.ts'
import { Connections, type FindAgents, readConnections } from './connections.ts'
import { EmailAccountInput, settingsOf } from './email-account-input.ts'
import { EmailAccount } from './email-account-object.ts'
import {
  checkEmailAccount,
  type LoginDependencies,
  openEmailAccount,
  readEmailAccount,
  removeEmailAccount,
  setEmailAccount,
} from './email-accounts.ts'
import { readIdentity, subject } from './identities.ts'
import { IdentityPath } from './operations.ts'
import type { SocialConnector } from './social/connector.ts'

/** Services that these operations need. */
export interface IdentityAccountServices {
  mail: LoginDependencies
  social: Pick<SocialConnector, 'name'>
  agentsOfIdentity: FindAgents
}

const operation = operationsWith<IdentityAccountServices>()
const tag = 'Identities'

/** Connections of identities, and their email accounts. */
export const IDENTITY_ACCOUNT_OPERATIONS = [
  operation({
    name: 'getIdentityConnections',
    tag,
    http: 'GET /v1/identities/:identity_id/connections',
    command: 'identity connections',
    scope: 'identities:read',
    summary: 'Get the email account, the agents and the last social login of an identity',
    input: IdentityPath,
    output: { connections: Connections },
    run: async ({ tenant, social, agentsOfIdentity, scopes }, { identity_id }) => ({
      connections: await readConnections(
        tenant,
        social,
        identity_id,
        scopes.has('agents:read') ? agentsOfIdentity : null,
      ),
    }),
  }),
  operation({
    name: 'getEmailAccount',
    tag,
    http: 'GET /v1/identities/:identity_id/email-account',
    command: 'email-account get',
    scope: 'identities:read',
    summary: 'Get the email account of an identity, without its secrets',
    input: IdentityPath,
    output: { email_account: EmailAccount },
    run: async ({ tenant }, { identity_id }) => ({ email_account: await readEmailAccount(tenant, identity_id) }),
  }),
  operation({
    name: 'setEmailAccount',
    tag,
    http: 'PUT /v1/identities/:identity_id/email-account',
    command: 'email-account set',
    scope: 'identities:write',
    also: [{ scopes: CARRIES_MAIL }],
    summary: 'Set the email account of an identity, after logging in to its servers',
    description:
      'The login is a `password`, an `access_token`, or a `refresh_token` with its `token_url` and `client_id`, from which the service gets access tokens itself. Without any of them, the stored login is kept.',
    input: { ...IdentityPath, ...EmailAccountInput },
    output: { email_account: EmailAccount },
    example: {
      address: 'ada@example.com',
      smtp: { host: 'smtp.example.com', port: 587, security: 'starttls', user: 'ada@example.com' },
      imap: { host: 'imap.example.com', port: 993, security: 'tls', user: 'ada@example.com' },
      password: 'correct horse',
      daily_limit: 100,
      spacing_seconds: 60,
    },
    errors: ['400 mail_login_failed', '503 secret_key_missing'],
    options: { smtp: { isDivided: true }, imap: { isDivided: true }, access_token: { name: 'token' } },
    // The logins happen outside the transaction.
    audit: 'own',
    async run({ tenant, actor, now, mail }, { identity_id, ...input }) {
      await readIdentity(tenant, identity_id)
      const settings = settingsOf(input, await openEmailAccount(tenant, mail, identity_id))
      return { email_account: await setEmailAccount(tenant, mail, actor, identity_id, settings, now) }
    },
  }),
  operation({
    name: 'checkEmailAccount',
    tag,
    http: 'POST /v1/identities/:identity_id/email-account/check',
    command: 'email-account check',
    scope: 'identities:write',
    summary: 'Log in to the servers of an email account; nothing is sent',
    description:
      'If a server rejects the login, `connected` is false and `error` contains its reply. If a request is interrupted, a retry logs in again.',
    input: IdentityPath,
    output: { email_account: EmailAccount },
    unaudited: 'logs in at the servers and sends nothing',
    run: async ({ tenant, now, mail }, { identity_id }) => ({
      email_account: await checkEmailAccount(tenant, mail, identity_id, now),
    }),
  }),
  operation({
    name: 'removeEmailAccount',
    tag,
    http: 'DELETE /v1/identities/:identity_id/email-account',
    command: 'email-account remove',
    scope: 'identities:write',
    summary: 'Remove the email account of an identity, with its secrets',
    input: IdentityPath,
    output: { deleted: Type.Literal(true), identity_id: Id },
    forAudit: { address: Type.String(personal('email')) },
    async run({ tenant }, { identity_id }) {
      const address = await removeEmailAccount(tenant, identity_id)
      return { deleted: true as const, identity_id, address }
    },
    audit: ({ identity_id, address }) => ({
      action: 'identity.email_removed',
      ...subject(identity_id),
      details: { address },
    }),
  }),
]
