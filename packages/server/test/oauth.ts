import { createHash, randomBytes } from 'node:crypto'
import {
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { FastifyRequest } from 'fastify'
import { createKeyLookup } from '../src/access/api-key-lookup.ts'
import { createGrantLookup } from '../src/access/oauth/grant-lookup.ts'
import type { ServiceOptions } from '../src/assembly/service.ts'
import { type CallerDependencies, mcpCaller } from '../src/mcp/caller.ts'
import type { App } from '../src/platform/http/app-types.ts'
import { createRateLimiter } from '../src/platform/http/rate-limits.ts'
import type { Browser } from './people.ts'
import { freePort } from './ports.ts'
import { call, startTestService, type TestResponse, type TestService } from './service.ts'

/** A route that returns who calls over MCP. */
export const WHO = '/test/who-calls'
export const CALLBACK = 'http://127.0.0.1:33418/callback'

/** A service with a known public URL, and with the route `WHO`. */
export async function startOAuthService(
  environment: Record<string, string> = {},
  options: Pick<ServiceOptions, 'clock'> = {},
): Promise<TestService> {
  const port = String(await freePort())
  const settings = { PORT: port, CDS_PUBLIC_URL: `http://127.0.0.1:${port}`, ...environment }
  const started: { dependencies?: CallerDependencies } = {}
  const service = await startTestService(settings, { ...options, beforeListen: (app) => mountWho(app, started) })
  const { stores, config, clock } = service
  started.dependencies = {
    stores,
    config,
    findApiKey: createKeyLookup(stores.database, NEVER_CACHED, clock),
    findGrant: createGrantLookup(stores.database, clock),
    rateLimiter: createRateLimiter(config.rateLimits, clock),
  }
  return service
}

const NEVER_CACHED = { listening: false, onChange: () => {} }

function mountWho(app: App, started: { dependencies?: CallerDependencies }): void {
  app.get(WHO, { config: { access: 'mcp' } }, async (request: FastifyRequest, reply) => {
    if (!started.dependencies) throw new Error('The service is starting.')
    const { tenant, actor, scopes, tools, redacts, callerId } = await mcpCaller(request, reply, started.dependencies)
    return { tenant_id: tenant.id, actor, scopes: [...scopes], tools: [...tools], redacts, caller_id: callerId }
  })
}

/** Who the service says that the bearer of a token is. */
export function whoCalls(service: { url: string }, token: string): Promise<TestResponse> {
  return call(service, 'GET', WHO, { headers: { authorization: `Bearer ${token}` } })
}

/** An application with the official client, which keeps what it is given in memory. */
export class McpApp implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK
  readonly clientMetadata = {
    client_name: 'Claude',
    redirect_uris: [CALLBACK],
    application_type: 'native',
  }
  /** Where it sends the person. */
  authorizationUrl: URL | undefined
  client: StoredOAuthClientInformation | undefined
  held: StoredOAuthTokens | undefined
  #verifier = ''
  #discovered: OAuthDiscoveryState | undefined
  readonly #service: TestService

  constructor(service: TestService) {
    this.#service = service
  }

  state = () => 'a state & its = signs'
  clientInformation = () => this.client
  saveClientInformation = (client: StoredOAuthClientInformation) => {
    this.client = client
  }
  tokens = () => this.held
  saveTokens = (tokens: StoredOAuthTokens) => {
    this.held = tokens
  }
  redirectToAuthorization = (url: URL) => {
    this.authorizationUrl = url
  }
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier
  }
  codeVerifier = () => this.#verifier
  saveDiscoveryState = (state: OAuthDiscoveryState) => {
    this.#discovered = state
  }
  discoveryState = () => this.#discovered

  get #server(): string {
    return `${this.#service.config.publicUrl}/mcp`
  }

  /** Starts from the refusal of a call without a token. @returns the query with which the person arrives. */
  async connect(): Promise<string> {
    const refusal = await fetch(this.#service.url + WHO)
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refusal)
    if (resourceMetadataUrl === undefined || scope === undefined) throw new Error(`It returned ${refusal.status}.`)
    const result = await auth(this, { serverUrl: this.#server, resourceMetadataUrl, scope })
    if (result !== 'REDIRECT' || !this.authorizationUrl) throw new Error(`The client is ${result}.`)
    return this.authorizationUrl.search
  }

  /** Continues where the person was sent back to. */
  async comeBack(redirect: string): Promise<StoredOAuthTokens> {
    const { searchParams } = new URL(redirect)
    const authorizationCode = searchParams.get('code') ?? ''
    const iss = searchParams.get('iss') ?? ''
    await auth(this, { serverUrl: this.#server, authorizationCode, iss })
    if (!this.held) throw new Error('The client has no tokens.')
    return this.held
  }

  /** Exchanges the refresh token. */
  async refresh(): Promise<StoredOAuthTokens> {
    await auth(this, { serverUrl: this.#server })
    if (!this.held) throw new Error('The client has no tokens.')
    return this.held
  }
}

/** Registers an application. @returns its id. */
export async function register(service: { url: string }, metadata: object = { redirect_uris: [CALLBACK] }) {
  return call(service, 'POST', '/oauth/register', { body: JSON.stringify(metadata) })
}

/** An authorization request and its verifier. */
export function authorizationRequest(service: TestService, clientId: string, changes: Record<string, string> = {}) {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: `${service.config.publicUrl}/mcp`,
    state: 's',
    ...changes,
  })
  return { verifier, query: `?${query}` }
}

/** Allows a request as the dashboard's page does. */
export function allow(browser: Browser, query: string, tenantId: string, changes: object = {}): Promise<TestResponse> {
  const decision = { query, tenant_id: tenantId, scopes: ['contacts:read'], redact_personal_data: true, ...changes }
  return browser.call('POST', '/api/oauth/authorization', decision)
}

/** Sends a form to an endpoint of the authorization server. */
export function sendForm(
  service: { url: string },
  path: string,
  parameters: Record<string, string>,
): Promise<TestResponse> {
  return call(service, 'POST', path, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(parameters).toString(),
  })
}
