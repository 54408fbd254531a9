import { isStorableText } from '../platform/http/json-body.ts'
import type { ApiFetch } from '../platform/outbound/api-fetch.ts'
import { RefusedAddress } from '../platform/outbound/urls.ts'
import { type Clock, DAY_SECONDS } from '../platform/time.ts'

/** The time limit of a request to a token URL. */
const REQUEST_MS_MAX = 15_000
const TOKEN_LENGTH_MAX = 8_192
const REPLY_LENGTH_MAX = 400
const YEAR_SECONDS = 366 * DAY_SECONDS
/** The prefix of every token URL problem. It distinguishes them from replies of other servers. */
export const TOKEN_PROBLEM = 'OAuth2: '
/** The errors that mean that a refresh token was revoked: the standard's and HubSpot's. */
const ENDED = ['invalid_grant', 'BAD_REFRESH_TOKEN']
/** The fields of a response that contain secrets. */
const SECRET_FIELDS = ['access_token', 'refresh_token', 'id_token']

export interface Tokens {
  /** Empty before the first renewal. */
  accessToken: string
  /** null: unknown. */
  expiresAt: string | null
  refreshToken: string
}

/** An OAuth client, with where and how it gets tokens. */
export interface TokenClient {
  clientId: string
  /** null for a public client. */
  clientSecret: string | null
  tokenUrl: string
  /** Default: form. */
  authentication?: 'form' | 'basic'
}

export interface TokenDependencies {
  /** Calls token URLs. If users can choose them, it refuses private addresses. */
  tokenApi: Pick<ApiFetch, 'fetch'>
  clock: Clock
}

/** The token URL refused the request: the refresh token was revoked, or the client's credentials are wrong. */
export class TokenRefused extends Error {
  /** Whether only another sign-in helps, so that another request would be useless. */
  readonly isEnded: boolean

  constructor(message: string, { isEnded = false, cause }: { isEnded?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.name = 'TokenRefused'
    this.isEnded = isEnded
  }
}

/** The token URL cannot be reached, or fails itself: a later request may succeed. */
export class TokenUnavailable extends Error {}

export interface TokenResponse extends Omit<Tokens, 'refreshToken'> {
  /** null if the response has none. Then the earlier one stays valid. */
  refreshToken: string | null
  idToken: string | null
  /** All other fields of the response, such as the URL of the account's API. */
  rest: Record<string, unknown>
}

/**
 * Requests tokens (RFC 6749, sections 4.1.3 and 6).
 * @param grant the parameters of the grant. Errors contain neither its values nor the client's secret.
 * @throws TokenRefused; TokenUnavailable if there is no usable response.
 */
export async function requestTokens(
  { tokenApi, clock }: TokenDependencies,
  client: TokenClient,
  grant: Readonly<Record<string, string>>,
): Promise<TokenResponse> {
  const { form, headers } = requestOf(client, grant)
  const response = await tokenApi
    .fetch(client.tokenUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...headers },
      body: form.toString(),
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    })
    .catch((error: Error) => {
      if (error instanceof RefusedAddress) {
        throw new TokenRefused(`${TOKEN_PROBLEM}the token endpoint cannot be used: ${error.message}`, { cause: error })
      }
      throw new TokenUnavailable(`${TOKEN_PROBLEM}the token endpoint cannot be reached: ${reasonOf(error)}`, {
        cause: error,
      })
    })
  const parsed = parse(
    await response.text().catch((error: Error) => {
      throw new TokenUnavailable(`${TOKEN_PROBLEM}the token endpoint sent no complete response: ${reasonOf(error)}`, {
        cause: error,
      })
    }),
  )
  if (response.ok && isToken(parsed.access_token)) {
    return {
      accessToken: parsed.access_token,
      expiresAt: expiryOf(parsed.expires_in, clock()),
      refreshToken: isToken(parsed.refresh_token) ? parsed.refresh_token : null,
      idToken: typeof parsed.id_token === 'string' ? parsed.id_token : null,
      rest: Object.fromEntries(Object.entries(parsed).filter(([name]) => !SECRET_FIELDS.includes(name))),
    }
  }
  const { error = parsed.status, error_description: description = parsed.message } = parsed
  const reply = redacted([error, description], [...Object.values(grant), client.clientSecret ?? ''])
  const problem = `${TOKEN_PROBLEM}the token endpoint responded with status ${response.status}${reply === '' ? '' : `: ${reply}`}`
  // If the endpoint is overloaded or fails, the account itself does not have a problem.
  if (response.status === 429 || response.status >= 500) throw new TokenUnavailable(problem)
  throw new TokenRefused(problem, { isEnded: typeof error === 'string' && ENDED.includes(error) })
}

/** The form and additional headers. */
function requestOf(
  { clientId, clientSecret, authentication }: TokenClient,
  grant: Readonly<Record<string, string>>,
): { form: URLSearchParams; headers: Record<string, string> } {
  const form = new URLSearchParams(grant)
  if (authentication === 'basic') {
    const credentials = [clientId, clientSecret ?? ''].map(encodeURIComponent).join(':')
    return { form, headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } }
  }
  form.set('client_id', clientId)
  if (clientSecret !== null) form.set('client_secret', clientSecret)
  return { form, headers: {} }
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

/** Some endpoints send the number of seconds as a string. */
function expiryOf(seconds: unknown, now: Date): string | null {
  const number = typeof seconds === 'string' && seconds !== '' ? Number(seconds) : seconds
  if (typeof number !== 'number' || !(number > 0)) return null
  return new Date(now.getTime() + Math.min(number, YEAR_SECONDS) * 1000).toISOString()
}

/** Joins texts from a provider into one short line, without secrets, because an endpoint may echo the request. */
export function redacted(parts: readonly unknown[], secrets: readonly string[]): string {
  const text = parts.filter((part) => typeof part === 'string' && isStorableText(part)).join(' ')
  const forms = secrets.filter((secret) => secret !== '').flatMap((secret) => [secret, encodeURIComponent(secret)])
  return forms
    .reduce((cleaned, form) => cleaned.replaceAll(form, '[secret]'), text)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, REPLY_LENGTH_MAX)
    .toWellFormed()
}
