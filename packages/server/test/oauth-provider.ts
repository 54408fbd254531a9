import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Asked {
  redirectUri: string
  challenge: string | null
  nonce: string | null
  scopes: string[]
}

/** The account that signs in at the provider. */
export interface Account {
  email: string
  /** Claims of its ID token besides the standard ones; they may also replace those. */
  claims: Record<string, unknown>
}

/** What the provider does instead of its duty. */
export type TokenFault = { status: number; body: unknown } | 'drop' | 'silence'

export interface OAuthProviderOptions {
  issuer: string
  usesPkce: boolean
  authentication: 'form' | 'basic'
  redirectUri: string
}

/** A service on loopback at which this one signs in, as RFC 6749, RFC 7636 and OpenID Connect say. */
export interface OAuthProvider {
  url: string
  client: { id: string; secret: string }
  account: Account
  /** The error with which it sends people back, in place of a code. */
  denial: { error: string; description?: string } | null
  /** Sent back as `iss` (RFC 9207); null: nothing. */
  iss: string | null
  /** What people allow; null: all that was asked for. */
  allowed: string[] | null
  fault: TokenFault | null
  /** Further fields of its token responses, which may also replace the right ones; undefined removes one. */
  more: Record<string, unknown>
  expiresIn: number
  /** The parameters of the authorization requests, and of the token requests, so far. */
  asked: URLSearchParams[]
  forms: URLSearchParams[]
  /** Every secret that it has issued. */
  issued: string[]
  /** Its clock. */
  now: () => Date
  /** Called with each access token, which replaces the account's one before. The response waits for it. */
  onIssued: (email: string, accessToken: string) => unknown
  /** Ends every sign-in. */
  revokeAll(): void
  close(): Promise<void>
}

/** Starts it. Codes work once; each renewal replaces the refresh token, and the one before ends the sign-in. */
export async function startOAuthProvider(options: OAuthProviderOptions): Promise<OAuthProvider> {
  const { issuer, usesPkce, authentication, redirectUri } = options
  const codes = new Map<string, Asked>()
  const refreshTokens = new Set<string>()

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', provider.url)
    if (request.method === 'GET') {
      authorize(url.searchParams, response)
      return
    }
    const form = new URLSearchParams(await textOf(request))
    provider.forms.push(form)
    if (provider.fault === 'silence') return
    if (provider.fault === 'drop') response.destroy()
    else if (provider.fault) json(response, provider.fault.status, provider.fault.body)
    else if (!isClient(request, form)) json(response, 401, { error: 'invalid_client' })
    else await issue(form, response)
  }

  async function issue(form: URLSearchParams, response: ServerResponse): Promise<void> {
    const isCode = form.get('grant_type') === 'authorization_code'
    const asked = isCode ? redeem(form) : renew(form)
    if (!asked) {
      json(response, 400, { error: 'invalid_grant', error_description: 'Token has been revoked.' })
      return
    }
    const tokens = { access_token: randomUUID(), refresh_token: `refresh+${randomUUID()}/` }
    refreshTokens.add(tokens.refresh_token)
    provider.issued.push(...Object.values(tokens))
    const scope = (provider.allowed ?? asked.scopes).join(' ')
    const idToken = isCode && asked.scopes.includes('openid') ? { id_token: idTokenFor(asked) } : {}
    const fields = { ...tokens, expires_in: provider.expiresIn, token_type: 'Bearer', scope, ...idToken }
    await provider.onIssued(provider.account.email, tokens.access_token)
    json(response, 200, { ...fields, ...provider.more })
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    provider.asked.push(query)
    const challenge = query.get('code_challenge')
    const hasChallenge = !usesPkce || (challenge !== null && query.get('code_challenge_method') === 'S256')
    const isRight =
      query.get('client_id') === provider.client.id &&
      query.get('redirect_uri') === redirectUri &&
      query.get('response_type') === 'code' &&
      hasChallenge
    // It never redirects to an address that is not registered.
    if (!isRight) {
      json(response, 400, { error: 'invalid_request' })
      return
    }
    const back = new URL(redirectUri)
    back.searchParams.set('state', query.get('state') ?? '')
    if (provider.iss !== null) back.searchParams.set('iss', provider.iss)
    if (provider.denial) {
      back.searchParams.set('error', provider.denial.error)
      if (provider.denial.description) back.searchParams.set('error_description', provider.denial.description)
    } else {
      const code = `code/${randomUUID()}`
      const scopes = (query.get('scope') ?? '').split(' ').filter(Boolean)
      codes.set(code, { redirectUri, challenge, nonce: query.get('nonce'), scopes })
      provider.issued.push(code)
      back.searchParams.set('code', code)
    }
    response.writeHead(302, { location: back.href }).end()
  }

  function redeem(form: URLSearchParams): Asked | null {
    const code = form.get('code') ?? ''
    const asked = codes.get(code)
    codes.delete(code)
    if (!asked || form.get('redirect_uri') !== asked.redirectUri) return null
    const verifier = form.get('code_verifier')
    const computed = verifier === null ? null : createHash('sha256').update(verifier).digest('base64url')
    return computed === asked.challenge ? asked : null
  }

  function renew(form: URLSearchParams): Asked | null {
    const isKnown = refreshTokens.delete(form.get('refresh_token') ?? '')
    // A token that was replaced is in the wrong hands: the sign-in ends.
    if (!isKnown) refreshTokens.clear()
    return isKnown ? { redirectUri, challenge: null, nonce: null, scopes: [] } : null
  }

  function isClient({ headers: { authorization } }: IncomingMessage, form: URLSearchParams): boolean {
    const { id, secret } = provider.client
    const inForm = form.get('client_id') === id && form.get('client_secret') === secret
    const basic = `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`
    if (authentication === 'form') return inForm && authorization === undefined
    return authorization === basic && !form.has('client_secret')
  }

  function idTokenFor({ nonce }: Asked): string {
    const now = Math.floor(provider.now().getTime() / 1000)
    const standard = { iss: issuer, aud: provider.client.id, iat: now, exp: now + 3_600, nonce }
    const { email, claims } = provider.account
    const parts = [
      { alg: 'RS256', typ: 'JWT' },
      { ...standard, email, ...claims },
    ]
    const encoded = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    return [...encoded, 'c2lnbmF0dXJl'].join('.')
  }

  const provider: OAuthProvider = {
    url: '',
    client: { id: 'client.of.tests', secret: 'secret+of/the_client' },
    account: { email: 'ada@mail.example', claims: { email_verified: true } },
    denial: null,
    iss: null,
    allowed: null,
    fault: null,
    more: {},
    expiresIn: 3_600,
    asked: [],
    forms: [],
    issued: [],
    now: () => new Date(),
    onIssued: () => {},
    revokeAll: () => refreshTokens.clear(),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return provider
}

/** Signs in at the provider, as a browser does. @returns what it adds to the redirect URL. */
export async function signInAt(authorizationUrl: string): Promise<Record<string, string>> {
  const response = await fetch(authorizationUrl, { redirect: 'manual' })
  const location = response.headers.get('location')
  if (response.status !== 302 || location === null) throw new Error(`The provider returned ${response.status}.`)
  return Object.fromEntries(new URL(location).searchParams)
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(typeof body === 'string' ? body : JSON.stringify(body))
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
