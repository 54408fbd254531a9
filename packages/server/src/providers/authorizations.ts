import { createHash, randomBytes } from 'node:crypto'
import type { Actor } from '../operations/audit.ts'
import type { Context } from '../operations/declare.ts'
import { callerOf } from '../operations/idempotency.ts'
import { conflict, ServiceError, validationError } from '../platform/errors.ts'
import { requireFewer } from '../platform/limits.ts'
import type { Tenant } from '../platform/tenant.ts'
import { MINUTE_MS } from '../platform/time.ts'
import { type ProviderDependencies, redirectUrlOf, tokenClientOf } from './clients.ts'
import { type IdClaims, readIdToken } from './id-token.ts'
import { type Provider, type ProviderSettings, providerNamed, urlsOf } from './provider.ts'
import { type Purpose, type PurposeHandler, type Purposes, scopesOfPurpose } from './purpose.ts'
import { redacted, requestTokens, type TokenClient, TokenRefused, type TokenResponse } from './token-request.ts'

/** A person may need time to find a password and a second factor. */
const VALID_MINUTES = 10
/** The number of sign-ins that one person or key may have in progress. */
const OPEN_MAX = 100
const RANDOM_BYTES = 32

export interface AuthorizationServices extends ProviderDependencies {
  purposes: Purposes
}

export interface StartedAuthorization {
  /** The URL where the person signs in. */
  url: string
  expiresAt: Date
}

/** The parameters that the provider added to the redirect URL. */
export interface Redirected {
  state: string
  code?: string | undefined
  iss?: string | undefined
  error?: string | undefined
  error_description?: string | undefined
}

/** Where the verifier of an authorization is stored. It cannot be decrypted anywhere else. */
export function verifierPlace(tenantId: string, stateHash: string): string {
  return `${tenantId}/${stateHash}/authorization`
}

/**
 * Starts a sign-in at a provider for a purpose. Returns a link for the caller, which works once.
 * @throws ServiceError 404 `unknown_provider`; 409 `no_oauth_client`, `too_many_authorizations`; the errors of the purpose.
 */
export async function startAuthorization(
  services: AuthorizationServices,
  context: Context,
  providerName: string,
  purpose: Purpose,
): Promise<StartedAuthorization> {
  const { tenant, actor, now } = context
  const provider = providerNamed(providerName)
  const request = await handlerOf(services, purpose).requestOf(context, provider.name, purpose)
  const { scopes, settings = {}, loginHint, parameters = {} } = request
  const { clientId } = await tokenClientOf(tenant, services, provider, settings)
  const [state, verifier] = [randomText(), randomText()]
  const stateHash = digest(state)
  const expiresAt = new Date(now.getTime() + VALID_MINUTES * MINUTE_MS)
  await tenant.transaction(async (tx) => {
    await requireAuthorizationLimit(tx, actor, now)
    await tx.db
      .insertInto('authorizations')
      .values({
        state_hash: stateHash,
        starter: callerOf(actor),
        provider: provider.name,
        client_id: clientId,
        settings: JSON.stringify(settings),
        purpose: JSON.stringify(purpose),
        verifier_sealed: services.secrets.seal(verifier, verifierPlace(tenant.id, stateHash)),
        created_at: now,
        expires_at: expiresAt,
      })
      .execute()
  })
  const url = new URL(urlsOf(provider, settings, services.providerUrls).authorizationUrl)
  const query = {
    ...provider.parameters,
    ...parameters,
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUrlOf(services.config),
    state,
    ...(scopes.length > 0 ? { scope: scopes.join(' ') } : {}),
    ...(provider.usesPkce ? { code_challenge: digest(verifier), code_challenge_method: 'S256' } : {}),
    ...(scopes.includes('openid') ? { nonce: nonceOf(verifier) } : {}),
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return { url: url.href, expiresAt }
}

/**
 * Completes a sign-in with the parameters of the redirect URL: requests the tokens and passes them to the purpose.
 * Only the actor that started the sign-in can do this, and only once.
 * @returns the path of the page to continue at.
 * @throws ServiceError with the cause: started by someone else, used, expired, denied, refused or unavailable.
 */
export async function completeAuthorization(
  services: AuthorizationServices,
  context: Context,
  redirected: Redirected,
): Promise<{ provider: Provider; purpose: Purpose; path: string }> {
  const { tenant, now } = context
  const { state, code, iss } = redirected
  if ((code === undefined) === (redirected.error === undefined)) {
    throw validationError([{ path: 'code', message: 'is required, unless the provider sent an error instead' }])
  }
  const { verifier, clientId, settings, purpose, provider } = await redeemState(services, context, state)
  if (iss !== undefined && !provider.isIssuer(iss)) {
    throw failed(provider, 'the response is from another provider, so it was not used')
  }
  if (code === undefined) throw deniedBy(provider, redirected)
  const client = await tokenClientOf(tenant, services, provider, settings)
  if (client.clientId !== clientId)
    throw failed(provider, 'the OAuth client has been replaced since the sign-in started')
  const response = await exchange(services, provider, client, code, verifier)
  const { accessToken, expiresAt, refreshToken, idToken, rest } = response
  if (refreshToken === null)
    throw failed(provider, 'it issued no refresh token, so the access would expire within hours')
  const claims = idToken === null ? null : checkedClaims(idToken, provider, clientId, verifier, now)
  const scopes = typeof rest.scope === 'string' ? rest.scope.split(/[ ,]+/).filter(Boolean) : null
  const tokens = { accessToken, expiresAt, refreshToken }
  const authorized = { provider: provider.name, settings, clientId, tokens, scopes, claims, response: rest }
  const { path } = await handlerOf(services, purpose).complete(context, purpose, authorized)
  return { provider, purpose, path }
}

function handlerOf({ purposes }: AuthorizationServices, { kind }: Purpose): PurposeHandler {
  const handler = purposes[kind]
  if (handler) return handler
  throw validationError([{ path: 'purpose.kind', message: `must be one of ${Object.keys(purposes).join(', ')}` }])
}

/** Marks a state as used. @throws ServiceError if the caller is not allowed to use it. */
async function redeemState(
  services: AuthorizationServices,
  { tenant, actor, requireScope, now }: Context,
  state: string,
) {
  const stateHash = digest(state)
  const row = await tenant.db
    .selectFrom('authorizations')
    .selectAll()
    .where('state_hash', '=', stateHash)
    .executeTakeFirst()
  if (!row) {
    const message =
      'This sign-in is not known in this workspace. It was started in another workspace, or it expired. Start it again.'
    throw new ServiceError(404, 'unknown_authorization', message)
  }
  if (row.starter !== callerOf(actor)) {
    const message =
      'Someone else started this sign-in, and only they can complete it. Start a new sign-in as the person who connects the account.'
    throw new ServiceError(403, 'authorization_of_another', message)
  }
  const purpose = row.purpose as unknown as Purpose
  requireScope(...scopesOfPurpose(purpose.kind))
  const used = () => conflict('authorization_used', 'This sign-in was already used. Start it again.')
  if (row.verifier_sealed === null) throw used()
  if (row.expires_at <= now) {
    const message = `This sign-in expired: it was started more than ${VALID_MINUTES} minutes ago. Start it again.`
    throw conflict('authorization_expired', message)
  }
  const { numUpdatedRows } = await tenant.db
    .updateTable('authorizations')
    .set({ verifier_sealed: null })
    .where('state_hash', '=', stateHash)
    .where('verifier_sealed', 'is not', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw used()
  return {
    verifier: services.secrets.open(row.verifier_sealed, verifierPlace(tenant.id, stateHash)),
    clientId: row.client_id,
    settings: row.settings as unknown as ProviderSettings,
    purpose,
    provider: providerNamed(row.provider),
  }
}

async function exchange(
  services: AuthorizationServices,
  provider: Provider,
  client: TokenClient,
  code: string,
  verifier: string,
): Promise<TokenResponse> {
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUrlOf(services.config) }
  try {
    return await requestTokens(services, client, provider.usesPkce ? { ...grant, code_verifier: verifier } : grant)
  } catch (error) {
    const { message } = error as Error
    if (error instanceof TokenRefused) throw failed(provider, message, error)
    const unavailable = `${provider.label} did not complete the sign-in. ${message}. Start it again.`
    throw new ServiceError(502, 'provider_unavailable', unavailable, { cause: error })
  }
}

function checkedClaims(idToken: string, provider: Provider, clientId: string, verifier: string, now: Date): IdClaims {
  const claims = readIdToken(idToken, { provider, clientId, nonce: nonceOf(verifier), now })
  if (typeof claims === 'string') throw failed(provider, claims)
  return claims
}

function deniedBy(provider: Provider, { error, error_description, code }: Redirected): ServiceError {
  const said = redacted([error, error_description], [code ?? ''])
  if (error !== 'access_denied') return failed(provider, said)
  const message = `Access was not allowed at ${provider.label}, so nothing was connected. The response of ${provider.label}: ${said}`
  return new ServiceError(400, 'authorization_denied', message)
}

/** 400: the provider refused, or its response cannot be used. */
function failed({ label }: Provider, problem: string, cause?: unknown): ServiceError {
  const message = `The sign-in at ${label} failed, so nothing was connected: ${problem}. Start it again.`
  return new ServiceError(400, 'authorization_failed', message, { cause })
}

/** Limits the sign-ins that an actor has in progress. @throws ServiceError 409 `too_many_authorizations` */
async function requireAuthorizationLimit(tx: Tenant, actor: Actor, now: Date): Promise<void> {
  const open = tx.db
    .selectFrom('authorizations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('starter', '=', callerOf(actor))
    .where('expires_at', '>', now)
  const message = `You have started ${OPEN_MAX} sign-ins within ${VALID_MINUTES} minutes. Wait until they expire.`
  await requireFewer(tx, 'authorizations', OPEN_MAX, () => open.executeTakeFirstOrThrow(), message)
}

/** Binds an ID token to the sign-in. It is derived, so it does not need to be stored. */
function nonceOf(verifier: string): string {
  return digest(`nonce ${verifier}`)
}

function randomText(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url')
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
