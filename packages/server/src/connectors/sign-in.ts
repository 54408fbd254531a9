import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Tenant } from '../platform/tenant.ts'
import { createAccessTokens, isSame, type TokenStore } from '../providers/access-tokens.ts'
import { type ProviderDependencies, renewalClient } from '../providers/clients.ts'
import type { ProviderName, ProviderSettings } from '../providers/provider.ts'
import { TokenRefused, type Tokens, TokenUnavailable } from '../providers/token-request.ts'
import { RenewalFailed, SignedOut } from './client.ts'
import { type ConnectionRow, sealedPlace } from './connections.ts'
import type { Connector, Credentials } from './connector.ts'
import type { SignIn } from './open-client.ts'

/** The secrets of a connection, in the form that is sealed. */
export type StoredSecrets =
  | { kind: 'entered'; credentials: Credentials }
  /** `providerSettings` determines the provider's URLs. */
  | { kind: 'oauth'; provider: ProviderName; tokens: Tokens; providerSettings: ProviderSettings }

export type SignInServices = { secrets: SecretBox; providers: ProviderDependencies }

/** Opens the credentials of a connection. @throws SignedOut if its secrets cannot be decrypted. */
export function openSignIn(
  tenant: Tenant,
  { secrets, providers }: SignInServices,
  connector: Connector,
  { connection_id, sealed }: ConnectionRow,
): SignIn {
  const stored = open(tenant, secrets, connector, connection_id, sealed)
  if (stored.kind === 'entered') return enteredCredentials(stored.credentials)
  const { tokens, provider, providerSettings } = stored
  const access = createAccessTokens(providers, {
    client: renewalClient(tenant, providers, provider, providerSettings),
    tokens,
    store: tokenStoreOf(tenant, secrets, connector, connection_id),
  })
  const credentials = async (token: Promise<string>): Promise<Credentials> => {
    try {
      return { access_token: await token }
    } catch (error) {
      if (error instanceof TokenRefused && error.isEnded) throw new SignedOut(error.message, { cause: error })
      // A wrong client secret or a proxy's error page does not mean that the sign-in has ended. A later renewal may succeed.
      if (error instanceof TokenRefused || error instanceof TokenUnavailable) {
        throw new RenewalFailed(error.message, { cause: error })
      }
      throw error
    }
  }
  return {
    current: () => credentials(access.current()),
    renew: ({ access_token = '' }) => credentials(access.renew(access_token)),
  }
}

/** Credentials that people entered. They cannot be renewed. */
export function enteredCredentials(credentials: Credentials): SignIn {
  return { current: async () => credentials, renew: async () => null }
}

function open(
  tenant: Tenant,
  secrets: SecretBox,
  { label }: Connector,
  connectionId: string,
  sealed: string,
): StoredSecrets {
  try {
    return JSON.parse(secrets.open(sealed, sealedPlace(tenant.id, connectionId))) as StoredSecrets
  } catch (cause) {
    const message = `The stored credentials cannot be decrypted with the current CDS_SECRET_KEY. Sign in at ${label} again.`
    throw new SignedOut(message, { cause })
  }
}

/**
 * Stores renewed tokens with the connection, unless a person has signed in again since. Other changes, such as a
 * pause, do not prevent that: the old tokens no longer work, so losing the new ones would end the sign-in.
 */
function tokenStoreOf(tenant: Tenant, secrets: SecretBox, connector: Connector, connectionId: string): TokenStore {
  const place = sealedPlace(tenant.id, connectionId)
  const lockStored = async (tx: Tenant) => {
    const row = await tx.db
      .selectFrom('connections')
      .select('sealed')
      .where('connection_id', '=', connectionId)
      .forUpdate()
      .executeTakeFirst()
    const stored = row ? open(tenant, secrets, connector, connectionId, row.sealed) : null
    return stored?.kind === 'oauth' ? stored : null
  }
  return {
    load: () => tenant.transaction(async (tx) => (await lockStored(tx))?.tokens ?? null),
    save: (before, renewed) =>
      tenant.transaction(async (tx) => {
        const stored = await lockStored(tx)
        if (stored && !isSame(stored.tokens, before)) return stored.tokens
        if (stored) {
          const sealed = secrets.seal(JSON.stringify({ ...stored, tokens: renewed }), place)
          await tx.db.updateTable('connections').set({ sealed }).where('connection_id', '=', connectionId).execute()
        }
        return renewed
      }),
    // The pull that receives the refusal stores it.
    saveRefusal: (before) =>
      tenant.transaction(async (tx) => {
        const stored = await lockStored(tx)
        return stored && !isSame(stored.tokens, before) ? stored.tokens : null
      }),
  }
}
