import type { BetterAuthPlugin } from 'better-auth'
import type { Config } from '../../config.ts'
import { normalizeEmail } from '../../platform/email.ts'
import { newId } from '../../platform/ids.ts'
import type { Logger } from '../../platform/log.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { verifyByProvider } from '../accept-invitation.ts'
import { deletePendingVerifications } from '../password-reset.ts'
import { hashPassword, isPassword, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../passwords.ts'
import { COOKIE_PREFIX, RENEW_AFTER_SECONDS, SESSION_SECONDS, tenantOfNewSession } from '../sessions.ts'

/** The library's callback path for providers. */
const CALLBACK = '/callback/:id'
/** Name of the one OpenID provider in the library's paths and tables. */
export const OIDC_PROVIDER = 'oidc'
/** The page that shows errors of the provider, from `?error=`. */
export const SIGN_IN_PAGE = '/sign-in'
/** Header in which our routes pass the caller's address to the library; the caller's own header is never passed on. */
export const CLIENT_IP_HEADER = 'x-cds-client-ip'

/** The sign-in library, reduced to its request handler. */
export interface Auth {
  handle(request: Request): Promise<Response>
  /** false if the discovery document of the configured OpenID provider could not be loaded. */
  hasOidc: boolean
}

export interface AuthDependencies {
  config: Config
  stores: Stores
  secret: () => Promise<string>
  clock: Clock
  log: Logger
}

/** Origin of the service's public address. */
export function publicOrigin({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  return new URL(publicUrl).origin
}

/**
 * Creates a function that loads the library when the first person signs in: an idle service does not need it. If the
 * configured OpenID provider does not respond, the next use tries again.
 */
export function lazyAuth(dependencies: AuthDependencies): () => Promise<Auth> {
  let known: Promise<Auth> | undefined
  return async () => {
    known ??= createAuth(dependencies)
    const mine = known
    const forget = () => {
      if (known === mine) known = undefined
    }
    const auth = await mine.catch((error) => {
      forget()
      throw error
    })
    if (!auth.hasOidc) forget()
    return auth
  }
}

async function createAuth({ config, stores, secret, clock, log }: AuthDependencies): Promise<Auth> {
  const [{ betterAuth }, { twoFactor }, { genericOAuth }] = await Promise.all([
    import('better-auth'),
    import('better-auth/plugins/two-factor'),
    import('better-auth/plugins/generic-oauth'),
  ])
  const { oidc } = config

  /**
   * Maps the provider's profile. An address that the provider has verified is verified here before its account is
   * looked up, in the spelling under which accounts are stored.
   */
  async function readProfile({ email, email_verified: verified, name }: Record<string, unknown>) {
    const emailVerified = verified === true || verified === 'true'
    if (typeof email !== 'string') return { emailVerified }
    const address = normalizeEmail(email)
    if (emailVerified) await verifyByProvider(stores, { email: address, name }, clock())
    return { emailVerified, email: address }
  }

  const auth = betterAuth({
    appName: 'Customer Data Service',
    baseURL: publicOrigin(config),
    basePath: '/api/auth',
    secret: await secret(),
    database: { db: stores.database, type: 'postgres', transaction: true },
    telemetry: { enabled: false },
    // Our own limiter also counts per person.
    rateLimit: { enabled: false },
    logger: {
      level: 'error',
      // Only the message: the other arguments may contain what people typed.
      log: (_level, message) => log.error({ sign_in: message }, 'the sign-in library reports an error'),
    },
    onAPIError: {
      errorURL: `${publicOrigin(config)}${SIGN_IN_PAGE}`,
      onError: (error) => {
        // Errors that are not responses, such as an unavailable store or a bug, are left to our own error handler.
        if ((error as Error | null)?.name !== 'APIError') throw error
      },
    },
    user: {
      modelName: 'users',
      // The library expects a unique address, which `email` is not.
      fields: {
        email: 'sign_in_email',
        emailVerified: 'email_verified',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      additionalFields: { address: { type: 'string', input: false, fieldName: 'email' } },
    },
    account: {
      modelName: 'user_accounts',
      fields: {
        accountId: 'account_id',
        providerId: 'provider_id',
        userId: 'user_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      encryptOAuthTokens: true,
    },
    session: {
      modelName: 'user_sessions',
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      additionalFields: {
        activeTenantId: { type: 'string', required: false, input: false, fieldName: 'active_tenant_id' },
      },
      expiresIn: SESSION_SECONDS,
      updateAge: RENEW_AFTER_SECONDS,
    },
    verification: {
      modelName: 'user_verifications',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
      storeIdentifier: 'hashed',
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH_MIN,
      // The library counts code units; our own schemas count characters, each at most two code units.
      maxPasswordLength: 2 * PASSWORD_LENGTH_MAX,
      revokeSessionsOnPasswordReset: true,
      onPasswordReset: ({ user }) => deletePendingVerifications(stores.database, user.id),
      password: { hash: hashPassword, verify: ({ password, hash }) => isPassword(password, hash) },
    },
    databaseHooks: {
      session: {
        create: {
          before: async (session) => ({
            data: { ...session, activeTenantId: await tenantOfNewSession(stores.database, session.userId) },
          }),
        },
      },
    },
    plugins: [
      afterEverySignIn(
        twoFactor({
          // Our own lock also counts per network, so that nobody can lock out others.
          accountLockout: { enabled: false },
          schema: {
            user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
            twoFactor: {
              modelName: 'user_two_factors',
              fields: {
                userId: 'user_id',
                backupCodes: 'backup_codes',
                failedVerificationCount: 'failed_verification_count',
                lockedUntil: 'locked_until',
              },
            },
          },
        }),
      ),
      ...(oidc
        ? [
            genericOAuth({
              config: [
                {
                  providerId: OIDC_PROVIDER,
                  clientId: oidc.clientId,
                  clientSecret: oidc.clientSecret,
                  // Set by the operator in the configuration; nobody else can make the service call it.
                  discoveryUrl: `${oidc.issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`,
                  scopes: ['openid', 'email', 'profile'],
                  pkce: true,
                  requireIdTokenVerification: true,
                  // People join by invitation; the provider only authenticates them.
                  disableSignUp: true,
                  mapProfileToUser: readProfile,
                },
              ],
            }),
          ]
        : []),
    ],
    advanced: {
      cookiePrefix: COOKIE_PREFIX,
      useSecureCookies: config.publicUrl.startsWith('https:'),
      ipAddress: { ipAddressHeaders: [CLIENT_IP_HEADER] },
      database: { generateId: () => newId() },
    },
  })
  const { socialProviders } = await auth.$context
  const hasOidc = oidc === null || socialProviders.some(({ id }) => id === OIDC_PROVIDER)
  return { handle: (request) => auth.handler(request), hasOidc }
}

/** Requires the second factor after a provider sign-in too, not only after a password. */
function afterEverySignIn<Plugin extends BetterAuthPlugin>(plugin: Plugin): Plugin {
  const after = plugin.hooks?.after?.map(({ matcher, handler }) => ({
    matcher: (context: Parameters<typeof matcher>[0]) => context.path === CALLBACK || matcher(context),
    handler,
  }))
  return { ...plugin, hooks: { ...plugin.hooks, after } }
}
