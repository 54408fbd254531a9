import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FindApiKey } from '../access/api-key-lookup.ts'
import { bearerOf, disconnectSignal } from '../access/authentication.ts'
import { isLoopback } from '../access/loopback.ts'
import type { FindGrant } from '../access/oauth/grant-lookup.ts'
import { challenge } from '../access/oauth/metadata.ts'
import { isAccessToken } from '../access/oauth/token-texts.ts'
import type { Config } from '../config.ts'
import type { Actor } from '../operations/audit.ts'
import { ServiceError } from '../platform/errors.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'

/** Who calls over MCP, and what they may see. */
export interface McpCaller {
  tenant: Tenant
  actor: Actor
  scopes: ReadonlySet<string>
  /** The names of the tools that it may use, or `all`. */
  tools: ReadonlySet<string>
  /** Whether personal data is replaced by pseudonyms. */
  redacts: boolean
  /** For the rate limiter. */
  callerId: string
}

export interface CallerDependencies {
  stores: Stores
  config: Pick<Config, 'publicUrl'>
  findApiKey: FindApiKey
  findGrant: FindGrant
  rateLimiter: Pick<RateLimiter, 'checkApiKey' | 'checkInvalid' | 'countInvalid'>
}

/**
 * Browsers send the origin of the page. Only pages of the service and of the person's own machine may call.
 * @throws ServiceError 403 `origin_not_allowed`
 */
export function allowOrigin({ headers }: FastifyRequest, reply: FastifyReply, publicUrl: string): void {
  const { origin } = headers
  if (origin === undefined) return
  const url = URL.parse(origin)
  if (url === null || (origin !== new URL(publicUrl).origin && !isLoopback(origin))) {
    const message = 'Pages of other sites cannot call the MCP server. Call it from a server or a desktop client.'
    throw new ServiceError(403, 'origin_not_allowed', message)
  }
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'www-authenticate, mcp-protocol-version, retry-after',
    vary: 'Origin',
  })
}

/**
 * Authenticates a request by its API key or by the access token of a connected application. Cookies do not count: a page
 * that a person visits must not be able to call tools for them. Call it before the body is read.
 * @throws ServiceError 401 `missing_token` or `invalid_token`, whose header leads clients to the sign-in; 429
 * `rate_limited`.
 */
export async function mcpCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  dependencies: CallerDependencies,
): Promise<McpCaller> {
  const { stores, config, rateLimiter } = dependencies
  const { headers } = request
  if (!headers.authorization) {
    const message = 'Connect with OAuth, or send an API key as Authorization: Bearer <API_KEY>.'
    throw new ServiceError(401, 'missing_token', message, { headers: { 'www-authenticate': challenge(config) } })
  }
  const checkAddress = () => rateLimiter.checkInvalid('API key', request)
  const token = bearerOf(headers.authorization)
  if (token === null) checkAddress()
  const found = token === null ? null : await findCaller(token, checkAddress, dependencies)
  if (found === null) {
    rateLimiter.countInvalid('API key', request)
    const message = 'The access token or API key is not valid. It may be expired or revoked. Connect again.'
    const header = challenge(config, 'invalid_token')
    throw new ServiceError(401, 'invalid_token', message, { headers: { 'www-authenticate': header } })
  }
  const { tenantId, ...caller } = found
  rateLimiter.checkApiKey(caller.callerId, reply)
  return { ...caller, tenant: openTenant(stores, tenantId, disconnectSignal(reply)) }
}

type Found = Omit<McpCaller, 'tenant'> & { tenantId: string }

async function findCaller(
  token: string,
  checkAddress: () => void,
  { findApiKey, findGrant }: Pick<CallerDependencies, 'findApiKey' | 'findGrant'>,
): Promise<Found | null> {
  if (isAccessToken(token)) {
    const grant = await findGrant(token, checkAddress)
    if (grant === null) return null
    const { tenantId, grantId, user, clientName, scopes, tools, redacts } = grant
    const actor = { kind: 'user', id: user.id, name: `${user.name} (via ${clientName})` } as const
    return { tenantId, actor, scopes, tools, redacts, callerId: grantId }
  }
  const key = await findApiKey(token, checkAddress)
  if (key === null) return null
  const { tenantId, keyId, name, scopes, tools, redacts } = key
  return { tenantId, actor: { kind: 'api_key', id: keyId, name }, scopes, tools, redacts, callerId: keyId }
}
