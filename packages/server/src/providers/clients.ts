import type { Selectable } from 'kysely'
import Type from 'typebox'
import type { Config } from '../config.ts'
import { PROVIDER_NAMES, type ProviderName } from '../config-values.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { notFound, ServiceError } from '../platform/errors.ts'
import { Nullable, Timestamp } from '../platform/http/responses.ts'
import { WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Provider, type ProviderSettings, providerNamed, urlsOf } from './provider.ts'
import { TOKEN_PROBLEM, type TokenClient, type TokenDependencies, TokenRefused } from './token-request.ts'

/** What finds the OAuth client of a tenant at a provider. */
interface ClientDependencies {
  secrets: SecretBox
  config: Pick<Config, 'publicUrl' | 'oauthClients'>
  /** For tests: base URLs that replace the providers' own, by name. */
  providerUrls: Readonly<Record<string, string>>
}

/** The services for signing in at providers. */
export type ProviderDependencies = ClientDependencies & TokenDependencies

export const OAuthClient = Type.Object(
  {
    provider: Type.Enum([...PROVIDER_NAMES]),
    label: Type.String({ description: "The provider's name for people.", examples: ['Google'], ...WORD }),
    client_id: Nullable(Type.String(WORD), 'null: no client is stored, so nobody can sign in at the provider.'),
    origin: Nullable(
      Type.Enum(['workspace', 'operator']),
      '`workspace`: stored in this workspace. `operator`: set for the whole installation by its operator.',
    ),
    redirect_url: Type.String({ description: 'The redirect URL to register at the provider.', ...WORD }),
    updated_at: Nullable(Timestamp),
  },
  { title: 'OAuthClient' },
)
export type OAuthClient = Type.Static<typeof OAuthClient>

type Row = Pick<Selectable<TenantTables['provider_clients']>, 'provider' | 'client_id' | 'updated_at'>

/** The redirect URL: a page of the dashboard. */
export function redirectUrlOf({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  return `${publicUrl}/authorized`
}

/** Where a client's secret is stored. It cannot be decrypted anywhere else. */
export function clientSecretPlace(tenantId: string, provider: string): string {
  return `${tenantId}/${provider}/oauth-client`
}

/** The client of each provider, without secrets. */
export async function listClients(tenant: Tenant, config: ClientDependencies['config']): Promise<OAuthClient[]> {
  const rows = await tenant.db.selectFrom('provider_clients').select(['provider', 'client_id', 'updated_at']).execute()
  return PROVIDER_NAMES.map((name) => {
    const row = rows.find(({ provider }) => provider === name)
    return toObject(providerNamed(name), row, config)
  })
}

/** The client at a provider, without its secret. */
export async function readClient(
  tenant: Tenant,
  { config }: ProviderDependencies,
  provider: Provider,
): Promise<OAuthClient> {
  const row = await tenant.db
    .selectFrom('provider_clients')
    .select(['provider', 'client_id', 'updated_at'])
    .where('provider', '=', provider.name)
    .executeTakeFirst()
  return toObject(provider, row, config)
}

/** Stores the tenant's client at a provider, replacing the previous one. */
export async function setClient(
  tenant: Tenant,
  { secrets, config }: Pick<ClientDependencies, 'secrets' | 'config'>,
  provider: Provider,
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
  now: Date,
): Promise<OAuthClient> {
  const values = {
    client_id: clientId,
    secret_sealed: secrets.seal(clientSecret, clientSecretPlace(tenant.id, provider.name)),
    updated_at: now,
  }
  const row = await tenant.db
    .insertInto('provider_clients')
    .values({ provider: provider.name, ...values, created_at: now })
    .onConflict((existing) => existing.column('provider').doUpdateSet(values))
    .returning(['provider', 'client_id', 'updated_at'])
    .executeTakeFirstOrThrow()
  return toObject(provider, row, config)
}

/** @throws ServiceError 404 if the tenant has no client at the provider. */
export async function deleteClient(tenant: Tenant, provider: Provider): Promise<{ clientId: string }> {
  const row = await tenant.db
    .deleteFrom('provider_clients')
    .where('provider', '=', provider.name)
    .returning('client_id')
    .executeTakeFirst()
  if (!row) throw notFound('OAuth client')
  return { clientId: row.client_id }
}

/**
 * The client with which a tenant gets tokens at a provider: its own, or else the operator's.
 * @throws ServiceError 409 `no_oauth_client` that explains what to do.
 */
export async function tokenClientOf(
  tenant: Tenant,
  dependencies: ClientDependencies,
  provider: Provider,
  settings: ProviderSettings = {},
): Promise<TokenClient & { clientSecret: string }> {
  const { tokenUrl } = urlsOf(provider, settings, dependencies.providerUrls)
  const own = await tenant.db
    .selectFrom('provider_clients')
    .select(['client_id', 'secret_sealed'])
    .where('provider', '=', provider.name)
    .executeTakeFirst()
  const client = own
    ? {
        clientId: own.client_id,
        clientSecret: dependencies.secrets.open(own.secret_sealed, clientSecretPlace(tenant.id, provider.name)),
      }
    : dependencies.config.oauthClients[provider.name]
  if (client) return { ...client, tokenUrl, authentication: provider.clientAuthentication }
  const message = `No OAuth client for ${provider.label} is stored. Register one at ${provider.label} with the redirect URL ${redirectUrlOf(dependencies.config)}, and store its id and secret.`
  throw new ServiceError(409, 'no_oauth_client', message)
}

/**
 * The client for renewals in `createAccessTokens`. It is looked up each time, because its secret may have been replaced.
 * @throws TokenRefused if the client is no longer stored.
 */
export function renewalClient(
  tenant: Tenant,
  dependencies: ClientDependencies,
  provider: ProviderName,
  settings: ProviderSettings = {},
): () => Promise<TokenClient> {
  return () =>
    tokenClientOf(tenant, dependencies, providerNamed(provider), settings).catch((error: Error) => {
      if (!(error instanceof ServiceError)) throw error
      throw new TokenRefused(`${TOKEN_PROBLEM}${error.message}`, { cause: error })
    })
}

function toObject(provider: Provider, row: Row | undefined, config: ClientDependencies['config']): OAuthClient {
  const ofOperator = config.oauthClients[provider.name]
  return {
    provider: provider.name,
    label: provider.label,
    client_id: row?.client_id ?? ofOperator?.clientId ?? null,
    origin: row ? 'workspace' : ofOperator ? 'operator' : null,
    redirect_url: redirectUrlOf(config),
    updated_at: row?.updated_at.toISOString() ?? null,
  }
}
