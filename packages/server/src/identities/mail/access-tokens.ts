import { isStorableText } from '../../platform/http/json-body.ts'
import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import { RefusedAddress } from '../../platform/outbound/urls.ts'
import type { Clock } from '../../platform/time.ts'
import type { AccessTokens, TokenRenewal } from '../email-account.ts'

/** The time limit of a request to a token endpoint. */
const REQUEST_MS_MAX = 15_000
/** A token is renewed early, so that it does not expire during a login. */
const RENEWED_BEFORE_EXPIRY_MS = 60_000
const TOKEN_LENGTH_MAX = 8_192
const REPLY_LENGTH_MAX = 400
const YEAR_SECONDS = 366 * 86_400
/** The prefix of every problem with a token endpoint, which distinguishes it from a mail server's reply. */
export const TOKEN_PROBLEM = 'OAuth2: '

export interface Tokens {
  /** Empty before the first renewal. */
  accessToken: string
  /** null: unknown. */
  expiresAt: string | null
  refreshToken: string
}

/** The token endpoint refused the renewal: the refresh token was revoked, or the client's credentials are wrong. */
export class TokenRefused extends Error {}

export interface TokenStore {
  /** Saves renewed tokens. @returns the tokens to use from now on: another process's, if it has renewed them in the meantime. */
  save(before: Tokens, renewed: Tokens): Promise<Tokens>
  /** Saves a refusal. @returns the tokens that another process has renewed in the meantime; null if the refusal is final. */
  saveRefusal(before: Tokens, problem: string): Promise<Tokens | null>
}

export interface TokenDependencies {
  /** Calls token endpoints. Users choose their URLs, so it refuses private addresses. */
  tokenApi: ApiFetch
  clock: Clock
}

type Client = Omit<TokenRenewal, 'refreshToken'>

/** The access tokens of an account. Each is used until it expires or a server rejects it. Concurrent renewals share one request. */
export function createAccessTokens(
  dependencies: TokenDependencies,
  client: Client,
  first: Tokens,
  store: TokenStore,
): AccessTokens & { latest(): Tokens } {
  let tokens = first
  let renewing: Promise<string> | null = null
  const secrets = new Set<string>()
  const use = (next: Tokens) => {
    tokens = next
    for (const secret of [next.accessToken, next.refreshToken, client.clientSecret ?? '']) secrets.add(secret)
    secrets.delete('')
  }
  use(first)

  async function renewNow(): Promise<string> {
    const before = tokens
    try {
      const renewed = await requestTokens(dependencies, client, before)
      use(renewed)
      use(await store.save(before, renewed))
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      const others = await store.saveRefusal(before, error.message)
      if (!others) throw error
      use(others)
    }
    return tokens.accessToken
  }

  function renewOnce(): Promise<string> {
    renewing ??= renewNow().finally(() => {
      renewing = null
    })
    return renewing
  }

  return {
    current: async () => (isValid(tokens, dependencies.clock()) ? tokens.accessToken : renewOnce()),
    renew: async (rejected) => (rejected === tokens.accessToken ? renewOnce() : tokens.accessToken),
    latest: () => tokens,
    secrets: () => [...secrets],
  }
}

function isValid({ accessToken, expiresAt }: Tokens, now: Date): boolean {
  if (accessToken === '') return false
  return expiresAt === null || Date.parse(expiresAt) - RENEWED_BEFORE_EXPIRY_MS > now.getTime()
}

/** Requests a new access token (RFC 6749, section 6). @throws TokenRefused; Error if there is no usable response. */
async function requestTokens(
  { tokenApi, clock }: TokenDependencies,
  client: Client,
  { refreshToken, accessToken }: Tokens,
): Promise<Tokens> {
  const { clientId, clientSecret, tokenUrl } = client
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId })
  if (clientSecret !== null) form.set('client_secret', clientSecret)
  const response = await tokenApi
    .fetch(tokenUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: form.toString(),
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    })
    .catch((error: Error) => {
      if (error instanceof RefusedAddress) {
        throw new TokenRefused(`${TOKEN_PROBLEM}the token endpoint cannot be used: ${error.message}`, { cause: error })
      }
      throw new Error(`${TOKEN_PROBLEM}the token endpoint cannot be reached: ${reasonOf(error)}`, { cause: error })
    })
  const answer = parse(await response.text())
  if (response.ok && isToken(answer.access_token)) {
    return {
      accessToken: answer.access_token,
      expiresAt: expiryOf(answer.expires_in, clock()),
      // Some endpoints issue a new refresh token each time. If there is none, the old one stays valid.
      refreshToken: isToken(answer.refresh_token) ? answer.refresh_token : refreshToken,
    }
  }
  const reply = redacted([answer.error, answer.error_description], [refreshToken, clientSecret ?? '', accessToken])
  const problem = `${TOKEN_PROBLEM}the token endpoint responded with status ${response.status}${reply === '' ? '' : `: ${reply}`}`
  // An overloaded or failing endpoint does not mean that the account has a problem.
  const isTransient = response.status === 429 || response.status >= 500
  throw isTransient ? new Error(problem) : new TokenRefused(problem)
}

function reasonOf(error: Error): string {
  const cause = error.cause instanceof AggregateError ? error.cause.errors[0] : (error.cause ?? error)
  return error.name === 'TimeoutError'
    ? `no complete response within ${REQUEST_MS_MAX / 1000} seconds`
    : (cause as Error).message
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Whether a token is safe in a login command: printable ASCII only. */
function isToken(value: unknown): value is string {
  return (
    typeof value === 'string' && value.length > 0 && value.length <= TOKEN_LENGTH_MAX && /^[\x20-\x7e]+$/.test(value)
  )
}

/** Some endpoints send the seconds as a string. */
function expiryOf(seconds: unknown, now: Date): string | null {
  const number = typeof seconds === 'string' && seconds !== '' ? Number(seconds) : seconds
  if (typeof number !== 'number' || !(number > 0)) return null
  return new Date(now.getTime() + Math.min(number, YEAR_SECONDS) * 1000).toISOString()
}

/** Redacts secrets, because an endpoint may echo the request. */
function redacted(parts: unknown[], secrets: string[]): string {
  const text = parts.filter((part) => typeof part === 'string' && isStorableText(part)).join(' ')
  const forms = secrets.filter((secret) => secret !== '').flatMap((secret) => [secret, encodeURIComponent(secret)])
  return forms
    .reduce((cleaned, form) => cleaned.replaceAll(form, '[secret]'), text)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, REPLY_LENGTH_MAX)
    .toWellFormed()
}
