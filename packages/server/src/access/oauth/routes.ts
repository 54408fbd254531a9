import type { FastifyError, FastifyRequest } from 'fastify'
import { shown } from '../../platform/characters.ts'
import type { App } from '../../platform/http/app-types.ts'
import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import { DAY_SECONDS } from '../../platform/time.ts'
import { registerClient } from './clients.ts'
import { type ExchangeDependencies, exchange, revokeToken } from './exchange.ts'
import {
  REGISTER_PATH,
  RESOURCE_METADATA_PATH,
  REVOKE_PATH,
  resourceMetadata,
  SERVER_METADATA_PATH,
  serverMetadata,
  TOKEN_PATH,
} from './metadata.ts'
import { OAuthError, sendOAuthError } from './oauth-error.ts'

const BODY_BYTES_MAX = 32 * 1024
const FORM = 'application/x-www-form-urlencoded'

/**
 * What OAuth clients call. Their responses have the form of those standards, not of the API. Any page may call them:
 * they read no cookie.
 */
export async function oauthRoutes(
  app: App,
  dependencies: ExchangeDependencies & {
    rateLimiter: Pick<RateLimiter, 'checkRegistration' | 'checkInvalid' | 'countInvalid'>
  },
): Promise<void> {
  const { stores, config, clock, rateLimiter } = dependencies
  app.setErrorHandler((error, request, reply) => sendOAuthError(error as FastifyError, request, reply))
  app.addContentTypeParser(FORM, { parseAs: 'string' }, async (_request: FastifyRequest, body: string) => body)
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' })
  })

  const options = { config: { access: 'public' as const }, schema: { hide: true } as object }
  const document = (path: string, describe: () => object) => {
    allowPreflight(app, path, 'GET')
    app.get(path, options, async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=300')
      return describe()
    })
  }
  for (const path of [RESOURCE_METADATA_PATH, `${RESOURCE_METADATA_PATH}/mcp`]) {
    document(path, () => resourceMetadata(config))
  }
  document(SERVER_METADATA_PATH, () => serverMetadata(config))

  allowPreflight(app, REGISTER_PATH, 'POST')
  app.post(REGISTER_PATH, { ...options, bodyLimit: BODY_BYTES_MAX }, async (request, reply) => {
    rateLimiter.checkRegistration(request, reply)
    return reply.code(201).send(await registerClient(stores.database, request.body, clock()))
  })

  allowPreflight(app, TOKEN_PATH, 'POST')
  app.post(TOKEN_PATH, { ...options, bodyLimit: BODY_BYTES_MAX }, async (request) => {
    rateLimiter.checkInvalid('code or token', request)
    try {
      return await exchange(dependencies, parametersOf(request.body))
    } catch (error) {
      const isWrong = error instanceof OAuthError && error.code === 'invalid_grant'
      if (isWrong) rateLimiter.countInvalid('code or token', request)
      throw error
    }
  })

  allowPreflight(app, REVOKE_PATH, 'POST')
  app.post(REVOKE_PATH, { ...options, bodyLimit: BODY_BYTES_MAX }, async (request) => {
    rateLimiter.checkInvalid('code or token', request)
    const isKnown = await revokeToken(dependencies, parametersOf(request.body))
    if (!isKnown) rateLimiter.countInvalid('code or token', request)
    return {}
  })
}

/** Responds to the preflight of clients that run in a browser. */
function allowPreflight(app: App, path: string, method: 'GET' | 'POST'): void {
  app.options(path, { config: { access: 'public' }, schema: { hide: true } as object }, async (_request, reply) => {
    reply.headers({
      'access-control-allow-methods': method,
      'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
      'access-control-max-age': String(DAY_SECONDS),
    })
    return reply.code(204).send()
  })
}

/** The parameters of a form. @throws OAuthError if one is given twice, or the body is not a form. */
function parametersOf(body: unknown): ReadonlyMap<string, string> {
  if (typeof body !== 'string') throw new OAuthError('invalid_request', `Send the parameters as ${FORM}.`)
  const parameters = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(body)) {
    if (parameters.has(name)) throw new OAuthError('invalid_request', `${shown(name)} is given twice.`)
    parameters.set(name, value)
  }
  return parameters
}
