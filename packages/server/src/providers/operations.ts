import Type from 'typebox'
import { operationsWith, secret } from '../operations/declare.ts'
import { validationError } from '../platform/errors.ts'
import { Timestamp } from '../platform/http/responses.ts'
import { WITHHELD, WORD } from '../platform/personal.ts'
import { type AuthorizationServices, completeAuthorization, startAuthorization } from './authorizations.ts'
import { deleteClient, listClients, OAuthClient, readClient, setClient } from './clients.ts'
import { providerNamed } from './provider.ts'
import { ALSO_FOR_PURPOSE, kindOfPurpose, Purpose, scopeOfPurpose } from './purpose.ts'

/** The services for these operations. */
export interface ProviderServices {
  authorization: AuthorizationServices
}

const operation = operationsWith<ProviderServices>()
const tag = 'Providers'
const ProviderInPath = Type.String({ description: 'The provider, such as google.', minLength: 1, maxLength: 50 })
const Provider = Type.String({ description: 'The provider, such as google.', minLength: 1, maxLength: 50 })
const SECRET_LENGTH_MAX = 2_048
const LINE = /^[\x21-\x7e]+$/

const fromRedirect = (description: string, maxLength: number) => Type.Optional(Type.String({ description, maxLength }))

/** The operations for signing in at other services: OAuth clients and authorizations. */
export const PROVIDER_OPERATIONS = [
  operation({
    name: 'listOAuthClients',
    tag,
    http: 'GET /v1/oauth-clients',
    command: 'oauth-client list',
    scope: 'settings:read',
    summary: 'List the providers where the workspace can sign in, with its OAuth client at each',
    input: {},
    output: { oauth_clients: Type.Array(OAuthClient) },
    run: async ({ tenant, authorization }) => ({ oauth_clients: await listClients(tenant, authorization.config) }),
  }),
  operation({
    name: 'getOAuthClient',
    tag,
    http: 'GET /v1/oauth-clients/:provider',
    command: 'oauth-client get',
    scope: 'settings:read',
    summary: "Get the workspace's OAuth client at a provider; its secret is never returned",
    input: { provider: ProviderInPath },
    output: { oauth_client: OAuthClient },
    errors: ['404 unknown_provider'],
    run: async ({ tenant, authorization }, { provider }) => ({
      oauth_client: await readClient(tenant, authorization, providerNamed(provider)),
    }),
  }),
  operation({
    name: 'setOAuthClient',
    tag,
    http: 'PUT /v1/oauth-clients/:provider',
    command: 'oauth-client set',
    scope: 'settings:write',
    summary: 'Store the OAuth client that you registered at a provider; its secret is never returned',
    description:
      'Register the `redirect_url` from the response at the provider. If you replace a client, repeat the sign-ins that were made with it.',
    input: {
      provider: ProviderInPath,
      client_id: Type.String({ minLength: 1, maxLength: SECRET_LENGTH_MAX }),
      client_secret: secret({ minLength: 1, maxLength: SECRET_LENGTH_MAX }),
    },
    output: { oauth_client: OAuthClient },
    example: { client_id: '1234.apps.example.com', client_secret: 'GOCSPX-secret-of-the-client' },
    errors: ['404 unknown_provider', '503 secret_key_missing'],
    async run({ tenant, now, authorization }, { provider, client_id, client_secret }) {
      const [clientId, clientSecret] = [client_id.trim(), client_secret.trim()]
      const details = Object.entries({ client_id: clientId, client_secret: clientSecret }).flatMap(([path, text]) =>
        LINE.test(text) ? [] : [{ path, message: 'must contain only printable characters without spaces' }],
      )
      const known = providerNamed(provider)
      if (details.length > 0) throw validationError(details)
      return { oauth_client: await setClient(tenant, authorization, known, { clientId, clientSecret }, now) }
    },
    audit: ({ oauth_client: { provider, client_id } }) => entryOf('oauth_client.set', provider, client_id),
  }),
  operation({
    name: 'deleteOAuthClient',
    tag,
    http: 'DELETE /v1/oauth-clients/:provider',
    command: 'oauth-client delete',
    scope: 'settings:write',
    summary:
      'Delete the OAuth client at a provider: sign-ins made with it stop working when their access tokens expire',
    input: { provider: ProviderInPath },
    output: { deleted: Type.Literal(true), provider: Type.String(WORD), client_id: Type.String(WORD) },
    errors: ['404 unknown_provider', '404 not_found'],
    async run({ tenant }, { provider }) {
      const { clientId } = await deleteClient(tenant, providerNamed(provider))
      return { deleted: true as const, provider, client_id: clientId }
    },
    audit: ({ provider, client_id }) => entryOf('oauth_client.deleted', provider, client_id),
  }),
  operation({
    name: 'startAuthorization',
    tag,
    http: 'POST /v1/authorizations',
    command: 'authorization start',
    scope: 'any-key',
    scopeOf: (sent) => scopeOfPurpose(kindOfPurpose(sent)),
    also: ALSO_FOR_PURPOSE,
    summary: 'Start a sign-in at a provider and get the URL where the person signs in',
    description:
      'The URL works once, for 10 minutes. The provider then redirects to the dashboard, which completes the sign-in. You can also complete it yourself with `POST /v1/authorizations/complete`. Only the actor that started it can complete it. Needs the scope of the purpose: `identities:write` for a mailbox, `settings:write` for a connection.',
    input: { provider: Provider, purpose: Purpose },
    output: { authorization_url: Type.String(WITHHELD), expires_at: Timestamp },
    status: 201,
    example: { provider: 'google', purpose: { kind: 'mailbox', identity_id: '018f3c5e-7b1a-7c3d-9e2f-1a2b3c4d5e6f' } },
    errors: [
      '404 not_found',
      '404 unknown_connector',
      '404 unknown_provider',
      '409 no_oauth_client',
      '409 too_many_authorizations',
    ],
    unaudited: 'nothing is connected yet; completing it has an entry',
    isAtomic: true,
    async run({ authorization, ...context }, { provider, purpose }) {
      const { url, expiresAt } = await startAuthorization(authorization, context, provider, purpose)
      return { authorization_url: url, expires_at: expiresAt.toISOString() }
    },
  }),
  operation({
    name: 'completeAuthorization',
    tag,
    http: 'POST /v1/authorizations/complete',
    command: 'authorization complete',
    scope: 'settings:read',
    summary: 'Complete a sign-in with the parameters of the redirect URL',
    description:
      'The dashboard does this on the page that the provider redirects to. Pass on an `error` too, so that the sign-in ends. Also needs the scopes of the purpose, as when it was started. A sign-in is completed at most once: if a request is interrupted, a retry returns 409 `authorization_used`.',
    input: {
      state: Type.String({ minLength: 1, maxLength: 200, examples: ['8qk0Y3m1hV9b'] }),
      code: fromRedirect('The authorization code.', 8_192),
      iss: fromRedirect('The issuer, if the provider sent one.', 2_048),
      error: fromRedirect('The error, if the provider sent one instead of a code.', 200),
      error_description: fromRedirect('The description of the error.', 4_096),
    },
    output: {
      provider: Type.String(WORD),
      purpose: Purpose,
      path: Type.String({
        description: "The path of the dashboard's page about the new connection or mailbox.",
        ...WORD,
      }),
    },
    example: { state: '8qk0Y3m1hV9b', code: '4/0AbCdEf' },
    errors: [
      '400 authorization_denied',
      '400 authorization_failed',
      '400 connection_refused',
      '400 url_not_allowed',
      '400 mail_login_failed',
      '403 authorization_of_another',
      '404 unknown_authorization',
      '409 authorization_expired',
      '409 authorization_used',
      '409 no_oauth_client',
      '409 source_name_taken',
      '409 source_of_another_account',
      '409 too_many_connections',
      '502 provider_unavailable',
    ],
    // The provider is called outside a transaction. The purpose writes the audit entry.
    audit: 'own',
    async run({ authorization, ...context }, input) {
      const { provider, purpose, path } = await completeAuthorization(authorization, context, input)
      return { provider: provider.name, purpose, path }
    },
  }),
]

function entryOf(action: string, provider: string, clientId: string | null) {
  return { action, subjectKind: 'oauth_client', subjectId: provider, details: { name: provider, client_id: clientId } }
}
