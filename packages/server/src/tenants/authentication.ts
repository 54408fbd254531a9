import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Actor } from '../audit/log.ts'
import { ServiceError } from '../platform/errors.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import type { ApiKey } from './api-keys.ts'
import type { Scope } from './scopes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The scope that a key needs for this route; `public` for none and no key; `any-key` where the scope follows from
     * the body, so that the route itself asks for it with `requireScopeOf`. Every route says one.
     */
    access?: Scope | 'public' | 'any-key'
  }
  interface FastifyRequest {
    /** The tenant that the API key belongs to; only routes with a scope have it. */
    tenant: Tenant
    apiKey: ApiKey | null
    /** Who calls, for the audit log; only routes with a scope have it. */
    actor: Actor
  }
}

interface Dependencies {
  stores: Stores
  findApiKey(apiKey: string): Promise<ApiKey | null>
}

/** Checks the API key and its scope before anything else of a request is looked at. */
export function requireApiKeys(app: FastifyInstance, { stores, findApiKey }: Dependencies): void {
  app.decorateRequest('apiKey', null)
  app.decorateRequest('tenant')
  app.decorateRequest('actor')
  app.addHook('onRoute', ({ url, config }) => {
    if (config?.access === undefined) throw new Error(`The route ${url} must say in config.access who may use it.`)
  })
  app.addHook('onRequest', async (request) => {
    const { access } = request.routeOptions.config
    if (access === undefined || access === 'public') return
    const apiKey = await authenticate(request, findApiKey)
    if (access !== 'any-key') requireScope(apiKey, access)
    request.apiKey = apiKey
    request.actor = { kind: 'api_key', id: apiKey.keyId, name: apiKey.name }
    request.tenant = openTenant(stores, apiKey.tenantId)
  })
}

/** @throws ServiceError 403 naming the scope that the key lacks. */
export function requireScope(apiKey: ApiKey, scope: Scope): void {
  if (apiKey.scopes.has(scope)) return
  const message = `This API key lacks the scope ${scope}. Create a key that has it.`
  throw new ServiceError(403, 'insufficient_scope', message, { details: [{ path: 'scope', message: scope }] })
}

/** The same for a request whose key has been checked. */
export function requireScopeOf({ apiKey }: FastifyRequest, scope: Scope): void {
  if (apiKey === null) throw new Error('Only a route that needs an API key can ask for a scope.')
  requireScope(apiKey, scope)
}

async function authenticate(request: FastifyRequest, findApiKey: Dependencies['findApiKey']): Promise<ApiKey> {
  const header = request.headers.authorization
  if (header === undefined || header === '') {
    throw unauthorized('missing_api_key', 'Send your API key as Authorization: Bearer <API_KEY>.')
  }
  const [, key] = /^Bearer +(\S{1,200})$/i.exec(header) ?? []
  const apiKey = key === undefined ? null : await findApiKey(key)
  if (!apiKey)
    throw unauthorized('invalid_api_key', 'The API key is not valid. It may be mistyped, expired or revoked.')
  return apiKey
}

function unauthorized(code: string, message: string): ServiceError {
  return new ServiceError(401, code, message, {
    headers: { 'www-authenticate': 'Bearer realm="Customer Data Service"' },
  })
}
