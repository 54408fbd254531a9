import { createHash, createSign, generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from './people.ts'
import type { TestService } from './service.ts'

export interface OpenIdPerson {
  sub: string
  email: string
  email_verified: boolean
  name: string
}

/** A local OpenID provider where everyone is the same person. */
export interface OpenIdProvider {
  issuer: string
  /** The person who signs in next. */
  person: OpenIdPerson
  /** Claims that replace the right ones in the next tokens. */
  lies: Record<string, unknown>
  /** Whether the next tokens are signed with an unknown key. */
  forges: boolean
  close(): Promise<void>
}

const CLIENT = { id: 'cds', secret: 'the secret of the client' }
export const OPENID_CLIENT = CLIENT

/** Implements the code flow: discovery, authorization with PKCE and nonce, token and keys. */
export async function startOpenIdProvider(person: OpenIdPerson, port = 0): Promise<OpenIdProvider> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const codes = new Map<string, { nonce: string | null; challenge: string | null; redirect: string | null }>()

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', provider.issuer)
    const json = (body: object, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (url.pathname === '/.well-known/openid-configuration') {
      const { issuer } = provider
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        id_token_signing_alg_values_supported: ['RS256'],
      })
    }
    if (url.pathname === '/keys') {
      return json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] })
    }
    if (url.pathname === '/authorize') {
      const code = randomUUID()
      const query = url.searchParams
      const redirect = query.get('redirect_uri')
      codes.set(code, { nonce: query.get('nonce'), challenge: query.get('code_challenge'), redirect })
      const back = new URL(redirect ?? '')
      back.searchParams.set('code', code)
      back.searchParams.set('state', query.get('state') ?? '')
      return response.writeHead(302, { location: back.href }).end()
    }
    if (url.pathname === '/token') {
      const form = new URLSearchParams(await textOf(request))
      const asked = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      const fits = asked !== undefined && asked.challenge === challenge && asked.redirect === form.get('redirect_uri')
      if (!fits || !isClient(request, form)) return json({ error: 'invalid_grant' }, 400)
      return json({ access_token: 'access', token_type: 'Bearer', expires_in: 60, id_token: tokenFor(asked.nonce) })
    }
    return json({ error: 'not_found' }, 404)
  })

  function tokenFor(nonce: string | null): string {
    const now = Math.floor(Date.now() / 1000)
    const standard = { iss: provider.issuer, aud: CLIENT.id, iat: now, exp: now + 60, nonce }
    const claims = { ...standard, ...provider.person, ...provider.lies }
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const signed = `${encode({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${encode(claims)}`
    const key = provider.forges ? stranger.privateKey : privateKey
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`
  }

  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const provider: OpenIdProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    person,
    lies: {},
    forges: false,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return provider
}

/** Signs in at the provider and returns, like a browser. @returns where the service redirects the browser finally. */
export async function visitProvider(service: TestService, browser: Browser, callbackURL?: string): Promise<string> {
  const started = await browser.call('POST', '/api/auth/sign-in/oauth2', { providerId: 'oidc', callbackURL })
  if (started.status !== 200) throw new Error(JSON.stringify(started.body))
  const there = await fetch(started.body.url, { redirect: 'manual' })
  return comeBack(service, browser, there.headers.get('location') ?? '')
}

/** Follows the provider's redirect to the service. @returns where the service redirects the browser. */
export async function comeBack(service: TestService, browser: Browser, location: string): Promise<string> {
  const { publicUrl } = service.config
  if (!location.startsWith(`${publicUrl}/api/auth/callback/oidc?`)) throw new Error(`came back to ${location}`)
  const back = await browser.call('GET', location.slice(publicUrl.length), undefined, {})
  if (back.status !== 302) throw new Error(`the callback returned ${back.status}`)
  return back.headers.get('location') ?? ''
}

function isClient({ headers: { authorization = '' } }: IncomingMessage, form: URLSearchParams): boolean {
  const basic = `Basic ${Buffer.from(`${CLIENT.id}:${encodeURIComponent(CLIENT.secret)}`).toString('base64')}`
  return authorization === basic || (form.get('client_id') === CLIENT.id && form.get('client_secret') === CLIENT.secret)
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
