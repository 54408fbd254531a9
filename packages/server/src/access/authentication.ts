import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../operations/audit.ts'
import { isAtLeast, type Role } from '../operations/roles.ts'
import { requireScopeOf, type Scope, scopesOf } from '../operations/scopes.ts'
import { ServiceError } from '../platform/errors.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import type { ApiKey, FindApiKey } from './api-key-lookup.ts'
import { requireOwnSite } from './own-site.ts'
import { hasSessionCookie, type SignedIn } from './sessions.ts'

/**
 * Who may use a route. A scope: a key that has it, or a person whose role has it. `public`: anyone. `any-key`: any key
 * or person, where the scope follows from the body, so that the route itself asks for it with `requireScopeOf`. A role:
 * people who have at least that one in the session's tenant, and no key. `signed-in`: people, whether or not their
 * session has a tenant.
 */
export type Access = Scope | 'public' | 'any-key' | 'signed-in' | { role: Role }

const BEARER = /^Bearer +(\S{1,200})$/i

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use this route. Every route says it. */
    access?: Access
  }
  interface FastifyRequest {
    /** The tenant of the API key or the session; routes that are public or for `signed-in` have none. */
    tenant: Tenant
    apiKey: ApiKey | null
    /** The person whose session this is; null with an API key, and on public routes. */
    signedIn: SignedIn | null
    /** What the caller may do in the tenant. */
    scopes: ReadonlySet<string>
    /** Who calls, for the audit log; public routes have none. */
    actor: Actor
  }
  interface FastifyInstance {
    /** Every route with who may use it, so that a test can walk them all. */
    accessOfRoutes: { method: string; url: string; access: Access }[]
  }
}

interface Dependencies {
  stores: Stores
  config: { publicUrl: string }
  findApiKey: FindApiKey
  findSession(cookies: string | undefined): Promise<SignedIn | null>
  rateLimiter: Pick<RateLimiter, 'checkApiKey' | 'checkInvalidKeys' | 'checkUser' | 'countInvalidKey'>
}

/** Checks the API key or the session, and what they may do, before anything else of a request is looked at. */
export function requireCallers(app: FastifyInstance, dependencies: Dependencies): void {
  const { stores, config, findSession, rateLimiter } = dependencies
  app.decorateRequest('apiKey', null)
  app.decorateRequest('signedIn', null)
  app.decorateRequest('tenant')
  app.decorateRequest('scopes')
  app.decorateRequest('actor')
  app.decorate('accessOfRoutes', [])
  app.addHook('onRoute', ({ url, method, config: { access, refuses } = {} }) => {
    if (access === undefined) throw new Error(`The route ${url} must say in config.access who may use it.`)
    if (refuses) return
    for (const name of [method].flat()) app.accessOfRoutes.push({ method: name, url, access })
  })

  app.addHook('onRequest', async (request, reply) => {
    const { access } = request.routeOptions.config
    const ofDashboard = request.routeOptions.url?.startsWith('/api/') ?? false
    if (access === undefined || access === 'public') {
      // What a stranger's page must not start either: a sign-in, the first set-up.
      if (access === 'public' && ofDashboard && !request.routeOptions.config.refuses) {
        requireOwnSite(request, config.publicUrl)
      }
      return
    }
    const forPeople = access === 'signed-in' || typeof access === 'object'
    const { authorization, cookie } = request.headers
    if (!forPeople && (authorization || !hasSessionCookie(cookie, config.publicUrl))) {
      const apiKey = await authenticate(request, dependencies)
      request.apiKey = apiKey
      request.scopes = apiKey.scopes
      request.actor = { kind: 'api_key', id: apiKey.keyId, name: apiKey.name }
      request.tenant = openTenant(stores, apiKey.tenantId, callerOf(reply))
    } else {
      const signedIn = await findSession(cookie)
      if (!signedIn) throw new ServiceError(401, 'not_signed_in', 'You are not signed in, or not any more. Sign in.')
      requireOwnSite(request, config.publicUrl)
      // A proxy between may keep what is asked for with an Authorization header for nobody else, but not with a cookie.
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
    if (membership) request.tenant = openTenant(stores, membership.tenantId, callerOf(reply))
    else if (access !== 'signed-in') {
      throw new ServiceError(403, 'no_tenant', 'You do not belong to this tenant any more. Choose another one.')
    }
    if (typeof access === 'object' && membership && !isAtLeast(membership.role, access.role)) {
      const message = `Your role is ${membership.role}, and this needs the role ${access.role}.`
      throw new ServiceError(403, 'insufficient_role', message, { details: [{ path: 'role', message: access.role }] })
    }
  }
}

/** @returns a signal that aborts when the client disconnects before it has its response. */
function callerOf({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  raw.on('close', () => {
    if (!raw.writableFinished) controller.abort()
  })
  return controller.signal
}

/** The person whose session a request has been found to be. */
export function personOf({ signedIn }: FastifyRequest): SignedIn {
  if (signedIn === null) throw new Error('Only a route for people can ask who is signed in.')
  return signedIn
}

/**
 * An address that has sent too many invalid keys is refused before the database is asked. Keys that this process has
 * accepted before still work: others who share the address wait only with a key that is new to it.
 */
async function authenticate(request: FastifyRequest, { findApiKey, rateLimiter }: Dependencies): Promise<ApiKey> {
  const { ip, headers } = request
  if (!headers.authorization) {
    throw unauthorized('missing_api_key', 'Send your API key as Authorization: Bearer <API_KEY>.')
  }
  const [, key] = BEARER.exec(headers.authorization) ?? []
  const checkAddress = () => rateLimiter.checkInvalidKeys(ip)
  if (key === undefined) checkAddress()
  const apiKey = key === undefined ? null : await findApiKey(key, checkAddress)
  if (apiKey) return apiKey
  rateLimiter.countInvalidKey(ip)
  throw unauthorized('invalid_api_key', 'The API key is not valid. It may be mistyped, expired or revoked.')
}

function unauthorized(code: string, message: string): ServiceError {
  return new ServiceError(401, code, message, {
    headers: { 'www-authenticate': 'Bearer realm="Customer Data Service"' },
  })
}

/**
 * Whether the caller of a request would be let in again, to the same tenant, with this scope. An answer that goes on
 * for hours asks this now and then, so that it ends when a key is revoked or a person leaves.
 */
export async function isStillAllowed(
  { headers, apiKey, tenant }: FastifyRequest,
  scope: Scope,
  dependencies: Pick<Dependencies, 'findApiKey' | 'findSession'>,
): Promise<boolean> {
  if (apiKey !== null) {
    const [, key = ''] = BEARER.exec(headers.authorization ?? '') ?? []
    const known = await dependencies.findApiKey(key)
    return known !== null && known.tenantId === tenant.id && known.scopes.has(scope)
  }
  const membership = (await dependencies.findSession(headers.cookie))?.membership
  return membership?.tenantId === tenant.id && scopesOf(membership.role).has(scope)
}
