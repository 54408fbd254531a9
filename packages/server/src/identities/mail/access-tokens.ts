import { isStorableText } from '../../platform/http/json-body.ts'
import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import { RefusedAddress } from '../../platform/outbound/urls.ts'
import type { Clock } from '../../platform/time.ts'
import type { AccessTokens, TokenRenewal } from '../email-account.ts'

/** For the whole exchange with a token endpoint. */
const EXCHANGE_MS_MAX = 15_000
/** A token that ends while somebody logs in with it is no use. */
const RENEWED_BEFORE_MS = 60_000
const TOKEN_LENGTH_MAX = 8_192
const SAID_LENGTH_MAX = 400
const YEAR_SECONDS = 366 * 86_400
/** How every problem with a token endpoint begins, so that it can be told from what a mail server says. */
export const TOKEN_PROBLEM = 'OAuth2: '

/** What changes when an access token is renewed. */
export interface Tokens {
  /** Empty before the first one was got. */
  accessToken: string
  /** null: nobody has said when it ends. */
  expiresAt: string | null
  refreshToken: string
}

/** A token endpoint that says no: the refresh token has been revoked, or the client is not who it says. */
export class TokenRefused extends Error {}

/** Where tokens are kept. */
export interface TokenKeeper {
  /** Keeps what was renewed. @returns what counts from now on: what another process has got meanwhile, where one has. */
  store(before: Tokens, renewed: Tokens): Promise<Tokens>
  /** Remembers a refusal. @returns what another process has got meanwhile; null without such, when the refusal stands. */
  refused(before: Tokens, problem: string): Promise<Tokens | null>
}

export interface TokenDependencies {
  /** The guarded way to token endpoints, which users name. */
  tokenApi: ApiFetch
  clock: Clock
}

type Client = Omit<TokenRenewal, 'refreshToken'>

/** Access tokens of one account, each used until it ends or a server refuses it. However many ask at once, one is got. */
export function createAccessTokens(
  dependencies: TokenDependencies,
  client: Client,
  first: Tokens,
  keeper: TokenKeeper,
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
      use(await keeper.store(before, renewed))
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      const others = await keeper.refused(before, error.message)
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
    current: async () => (isGood(tokens, dependencies.clock()) ? tokens.accessToken : renewOnce()),
    renew: async (refused) => (refused === tokens.accessToken ? renewOnce() : tokens.accessToken),
    latest: () => tokens,
    secrets: () => [...secrets],
  }
}

function isGood({ accessToken, expiresAt }: Tokens, now: Date): boolean {
  if (accessToken === '') return false
  return expiresAt === null || Date.parse(expiresAt) - RENEWED_BEFORE_MS > now.getTime()
}

/** Asks for a new access token (RFC 6749, section 6). @throws TokenRefused; Error when there is no usable answer. */
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
      signal: AbortSignal.timeout(EXCHANGE_MS_MAX),
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
      expiresAt: endOf(answer.expires_in, clock()),
      // Some give another one each time; others say nothing, and the one that there is stays good.
      refreshToken: isToken(answer.refresh_token) ? answer.refresh_token : refreshToken,
    }
  }
  const said = shown([answer.error, answer.error_description], [refreshToken, clientSecret ?? '', accessToken])
  const problem = `${TOKEN_PROBLEM}the token endpoint answered ${response.status}${said === '' ? '' : `: ${said}`}`
  // It is overloaded, or broken for a moment: that says nothing of the account.
  const isPassing = response.status === 429 || response.status >= 500
  throw isPassing ? new Error(problem) : new TokenRefused(problem)
}

function reasonOf(error: Error): string {
  const cause = error.cause instanceof AggregateError ? error.cause.errors[0] : (error.cause ?? error)
  return error.name === 'TimeoutError'
    ? `no complete answer within ${EXCHANGE_MS_MAX / 1000} seconds`
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

/** One that can stand in a log-in: no line break, no control character. */
function isToken(value: unknown): value is string {
  return (
    typeof value === 'string' && value.length > 0 && value.length <= TOKEN_LENGTH_MAX && /^[\x20-\x7e]+$/.test(value)
  )
}

/** Some give the seconds as text. */
function endOf(seconds: unknown, now: Date): string | null {
  const number = typeof seconds === 'string' && seconds !== '' ? Number(seconds) : seconds
  if (typeof number !== 'number' || !(number > 0)) return null
  return new Date(now.getTime() + Math.min(number, YEAR_SECONDS) * 1000).toISOString()
}

/** An endpoint may repeat what it was sent. */
function shown(parts: unknown[], secrets: string[]): string {
  const text = parts.filter((part) => typeof part === 'string' && isStorableText(part)).join(' ')
  const forms = secrets.filter((secret) => secret !== '').flatMap((secret) => [secret, encodeURIComponent(secret)])
  return forms
    .reduce((cleaned, form) => cleaned.replaceAll(form, '[secret]'), text)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, SAID_LENGTH_MAX)
    .toWellFormed()
}
