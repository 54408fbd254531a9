import { Readable } from 'node:stream'
import type { McpHttpHandler, McpServer } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { ServiceError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { toServiceError } from '../platform/http/conventions.ts'
import { readUncheckedJsonBody } from '../platform/http/read-body.ts'
import type { Logger } from '../platform/log.ts'
import type { ToolServices } from './call.ts'
import { type CallerDependencies, type McpCaller, mcpCaller } from './caller.ts'
import { type ConfirmedState, createMcpServer, type ServerDependencies } from './server.ts'

export interface McpDependencies extends CallerDependencies {
  config: Config
  toolServices: ToolServices
  /** Signs what clients must send back. */
  mcpSecret(): Promise<string>
  log: Logger
  /** Adds to the server of each request; for tests of the protocol. */
  extendMcpServer?: (server: McpServer, parts: Pick<ServerDependencies, 'sdk' | 'stateCodec'>) => void
}

/** JSON-RPC's codes for errors that occur before a message is understood. */
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600

/**
 * The MCP server at /mcp: Streamable HTTP without sessions, revision 2026-07-28 and the earlier ones. Errors have
 * JSON-RPC's shape.
 */
export async function mcpRoutes(app: App, dependencies: McpDependencies): Promise<void> {
  const openHandler = lazyHandler(dependencies)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', readUncheckedJsonBody)
  app.setErrorHandler((error, request, reply) =>
    sendError(error instanceof ServiceError ? error : toServiceError(error as never), error, request, reply),
  )
  app.addHook('onRequest', async (request, reply) => checkOrigin(request, reply, dependencies.config.publicUrl))

  const preflight = { config: { access: 'public' as const }, schema: { hide: true } as object }
  const allow = async (_request: FastifyRequest, reply: FastifyReply) =>
    reply
      .headers({
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers':
          'authorization, content-type, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id',
        'access-control-max-age': '7200',
      })
      .code(204)
      .send()

  const callers = new WeakMap<FastifyRequest, McpCaller>()
  const post = {
    config: { access: 'mcp' as const },
    schema: { hide: true } as object,
    // Before the body is read.
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      callers.set(request, await mcpCaller(request, reply, dependencies))
    },
  }
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = callers.get(request)
    if (!caller) throw new Error('The caller was not determined.')
    if (Array.isArray(request.body)) throw batchRefused()
    const handler = await openHandler()
    const response = await handler.fetch(webRequest(request, reply), {
      parsedBody: request.body,
      authInfo: { token: '', clientId: caller.callerId, scopes: [...caller.scopes], extra: { caller } },
    })
    for (const [name, value] of response.headers) reply.header(name, value)
    reply.code(response.status)
    return reply.send(response.body ? Readable.fromWeb(response.body as never) : '')
  }
  for (const path of PATHS) {
    app.options(path, preflight, allow)
    app.post(path, post, serve)
  }
}

/** A batch of a hundred calls would count once towards the rate limit, and no revision that is served has batches. */
function batchRefused(): ServiceError {
  return new ServiceError(400, 'batch_not_supported', 'Send one message per request: batches are not supported.')
}

/** Loads the protocol library at the first request: an idle service does not need it. */
function lazyHandler({ toolServices, mcpSecret, log, extendMcpServer }: McpDependencies) {
  let known: Promise<McpHttpHandler> | undefined
  const load = async () => {
    const [sdk, key] = await Promise.all([import('@modelcontextprotocol/server'), mcpSecret()])
    const stateCodec = sdk.createRequestStateCodec<ConfirmedState>({
      key,
      bind: ({ http }) => http?.authInfo?.clientId ?? '',
    })
    const own = { ...toolServices, log, sdk, stateCodec }
    return sdk.createMcpHandler(
      ({ authInfo }) => {
        const server = createMcpServer(own, authInfo?.extra?.caller as McpCaller)
        extendMcpServer?.(server, own)
        return server
      },
      { onerror: (error) => log.debug({ err: error }, 'the MCP server rejected a request') },
    )
  }
  return () => {
    known ??= load().catch((error) => {
      known = undefined
      throw error
    })
    return known
  }
}

function webRequest({ raw, headers }: FastifyRequest, reply: FastifyReply): Request {
  const controller = new AbortController()
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  const sent = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
  return new Request(`http://mcp.internal${raw.url}`, {
    method: 'POST',
    headers: sent as [string, string][],
    signal: controller.signal,
  })
}

/** People also paste the URL with a slash at its end. */
const PATHS = ['/mcp', '/mcp/']

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Browsers send the origin of the page. Only pages of the service and of the person's own machine may call.
 * @throws ServiceError 403 `origin_not_allowed`
 */
function checkOrigin({ headers }: FastifyRequest, reply: FastifyReply, publicUrl: string): void {
  const { origin } = headers
  if (origin === undefined) return
  const url = URL.parse(origin)
  if (url === null || (origin !== new URL(publicUrl).origin && !LOOPBACK.includes(url.hostname))) {
    const message = 'Pages of other sites cannot call the MCP server. Call it from a server or a desktop client.'
    throw new ServiceError(403, 'origin_not_allowed', message)
  }
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'www-authenticate, mcp-protocol-version, retry-after',
    vary: 'Origin',
  })
}

function sendError(error: ServiceError, original: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error.status >= 500) request.log.error({ err: original, code: error.code }, 'an MCP request failed')
  const code = error.code === 'invalid_json' ? PARSE_ERROR : INVALID_REQUEST
  const data = { code: error.code, request_id: request.id }
  return reply
    .code(error.status)
    .headers(error.headers)
    .send({ jsonrpc: '2.0', id: null, error: { code, message: error.message, data } })
}
