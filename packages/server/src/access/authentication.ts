import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../operations/audit.ts'
import { isAtLeast, type Role } from '../operations/roles.ts'
import { requireScopeOf, type Scope, scopesOf } from '../operations/scopes.ts'
import { evenIfClosed } from '../platform/closed-tenants.ts'
import { ServiceError } from '../platform/errors.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import type { ApiKey, FindApiKey } from './api-key-lookup.ts'
import { requireOwnSite } from './own-site.ts'
import { hasSessionCookie, type SignedIn } from './sessions.ts'

/**
 * Who may use a route. A scope: keys that have it, and people whose role has it. `public`: anyone. `any-key`: any key
 * or person; the scope depends on the body, so the route checks it with `requireScopeOf`. A role: people with at least
 * this role in the session's tenant, but no keys. `signed-in`: people, whether or not their session has a tenant. `mcp`:
 * API keys and applications that people have connected, which the route authenticates with `mcpCaller`.
 */
export type Access = Scope | 'public' | 'any-key' | 'signed-in' | 'mcp' | { role: Role }

const BEARER = /^Bearer +(\S{1,200})$/i

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use this route. Required on every route. */
    access?: Access
    /** Whether owners may use this route while their tenant is closed. */
    whileClosed?: boolean
    /** For openapi.json: the sentences about the scopes that the route needs besides `access`. */
    furtherScopes?: string
    /** Why a change that is not an operation writes no audit entry for its caller. Operations declare theirs. */
    unaudited?: string
  }
  interface FastifyRequest {
    /** The tenant of the API key or the session; unset on routes that are public or `signed-in`. */
    tenant: Tenant
    apiKey: ApiKey | null
    /** The person who is signed in; null with an API key, and on public routes. */
    signedIn: SignedIn | null
    /** What the caller may do in the tenant. */
    scopes: ReadonlySet<string>
    /** The caller, for the audit log; unset on public routes. */
    actor: Actor
  }
  interface FastifyInstance {
    /** Every route with its access rule, so that a test can call them all. */
    accessOfRoutes: { method: string; url: string; access: Access; unaudited: string | undefined }[]
  }
}

interface Dependencies {
  stores: Stores
  config: { publicUrl: string }
  findApiKey: FindApiKey
  findSession(cookies: string | undefined): Promise<SignedIn | null>
  rateLimiter: Pick<RateLimiter, 'checkApiKey' | 'checkInvalid' | 'checkUser' | 'countInvalid'>
}

/** Authenticates and authorizes every request before anything else in it is processed. */
export function authenticateRequests(app: FastifyInstance, dependencies: Dependencies): void {
  const { stores, config, findSession, rateLimiter } = dependencies
  app.decorateRequest('apiKey', null)
  app.decorateRequest('signedIn', null)
  app.decorateRequest('tenant')
  app.decorateRequest('scopes')
  app.decorateRequest('actor')
  app.decorate('accessOfRoutes', [])
  app.addHook('onRoute', ({ url, method, config: { access, refuses, unaudited } = {} }) => {
    if (access === undefined) throw new Error(`The route ${url} must set config.access.`)
    if (refuses) return
    for (const name of [method].flat()) app.accessOfRoutes.push({ method: name, url, access, unaudited })
  })

  app.addHook('onRequest', async (request, reply) => {
    const { access } = request.routeOptions.config
    const ofDashboard = request.routeOptions.url?.startsWith('/api/') ?? false
    if (access === undefined || access === 'public' || access === 'mcp') {
      // Other sites' pages must not start a sign-in or the first setup either.
      if (access === 'public' && ofDashboard && !request.routeOptions.config.refuses) {
        requireOwnSite(request, config.publicUrl)
      }
      return
    }
    const forPeople = access === 'signed-in' || typeof access === 'object'
    const { authorization, cookie } = request.headers
    if (!forPeople && (authorization || !hasSessionCookie(cookie, config.publicUrl))) {
      const apiKey = await authenticate(request, dependencies)
      if (apiKey.mcpOnly) throw redactingKey()
      request.apiKey = apiKey
      request.scopes = apiKey.scopes
      request.actor = { kind: 'api_key', id: apiKey.keyId, name: apiKey.name }
      request.tenant = openTenant(stores, apiKey.tenantId, disconnectSignal(reply))
    } else {
      const signedIn = await findSession(cookie)
      if (!signedIn)
        throw new ServiceError(401, 'not_signed_in', 'You are not signed in, or your session has ended. Sign in.')
      requireOwnSite(request, config.publicUrl)
      // Shared caches do not store responses to requests with an Authorization header, but may with a cookie.
      reply.header('cache-control', 'no-store')
      enter(request, reply, signedIn, access)
    }
    if (access !== 'any-key' && !forPeople) requireScopeOf(request, access)
    if (request.apiKey) rateLimiter.checkApiKey(request.apiKey.keyId, reply)
    if (request.signedIn) rateLimiter.checkUser(request.signedIn.user.id, reply)
  })

  function enter(request: FastifyRequest, reply: FastifyReply, signedIn: SignedIn, access: Access): void {
    const { user, membership } = signedIn
    request.signedIn = signedIn
    request.actor = { kind: 'user', id: user.id, name: user.name }
    request.scopes = membership ? scopesOf(membership.role) : new Set()
    const { whileClosed } = request.routeOptions.config
    // What people do with their own account does not depend on the tenant of their session.
    const isAllowed = access === 'signed-in' || (whileClosed && membership?.role === 'owner')
    const opened = isAllowed ? evenIfClosed(stores) : stores
    if (membership) request.tenant = openTenant(opened, membership.tenantId, disconnectSignal(reply))
    else if (access !== 'signed-in') {
      throw new ServiceError(403, 'no_tenant', 'You are no longer a member of this workspace. Choose another one.')
    }
    if (typeof access === 'object' && membership && !isAtLeast(membership.role, access.role)) {
      const message = `Your role is ${membership.role}, but this requires the role ${access.role}.`
      throw new ServiceError(403, 'insufficient_role', message, { details: [{ path: 'role', message: access.role }] })
    }
  }
}

/** @returns a signal that aborts if the client disconnects before it has received its response. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  raw.on('close', () => {
    if (!raw.writableFinished) controller.abort()
  })
  return controller.signal
}

/** The person who is signed in. Only for routes whose access is `signed-in` or a role. */
export function personOf({ signedIn }: FastifyRequest): SignedIn {
  if (signedIn === null)
    throw new Error('The route has no signed-in person, because its config.access admits other callers.')
  return signedIn
}

/**
 * Rejects an address that has sent too many invalid keys before the database is queried. Keys that this process has
 * accepted before still work, so others behind the same address are affected only with a key that is new to the process.
 */
async function authenticate(request: FastifyRequest, { findApiKey, rateLimiter }: Dependencies): Promise<ApiKey> {
  const { headers } = request
  if (!headers.authorization) throw missingApiKey()
  const key = bearerOf(headers.authorization)
  const checkAddress = () => rateLimiter.checkInvalid('API key', request)
  if (key === null) checkAddress()
  const apiKey = key === null ? null : await findApiKey(key, checkAddress)
  if (apiKey) return apiKey
  rateLimiter.countInvalid('API key', request)
  throw unauthorized('invalid_api_key', 'The API key is not valid. It may be mistyped, expired or revoked.')
}

/** The key or token of an Authorization header; null if it has none. */
export function bearerOf(authorization: string | undefined): string | null {
  return BEARER.exec(authorization ?? '')?.[1] ?? null
}

export function missingApiKey(): ServiceError {
  return unauthorized('missing_api_key', 'Send your API key as Authorization: Bearer <API_KEY>.')
}

/** Outside of MCP, nothing hides personal data. */
function redactingKey(): ServiceError {
  const message =
    'This key hides personal data, so it works only at /mcp. For the API, create a key without redact_personal_data.'
  return new ServiceError(403, 'redacting_key', message)
}

function unauthorized(code: string, message: string): ServiceError {
  return new ServiceError(401, code, message, {
    headers: { 'www-authenticate': 'Bearer realm="Customer Data Service"' },
  })
}

/**
 * Whether the caller would still be admitted to the same tenant with this scope. A response that streams for hours
 * checks this regularly, so that it ends when the key is revoked, the person leaves or the tenant is closed.
 */
export async function isStillAllowed(
  { headers, apiKey, tenant }: FastifyRequest,
  scope: Scope,
  dependencies: Pick<Dependencies, 'stores' | 'findApiKey' | 'findSession'>,
): Promise<boolean> {
  if (dependencies.stores.closed.has(tenant.id)) return false
  if (apiKey !== null) {
    const known = await dependencies.findApiKey(bearerOf(headers.authorization) ?? '')
    return known !== null && !known.mcpOnly && known.tenantId === tenant.id && known.scopes.has(scope)
  }
  const membership = (await dependencies.findSession(headers.cookie))?.membership
  return membership?.tenantId === tenant.id && scopesOf(membership.role).has(scope)
}
