import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { toServiceError } from '../platform/http/conventions.ts'
import { readUncheckedJsonBody } from '../platform/http/read-body.ts'
import { allowOrigin, type CallerDependencies, type McpCaller, mcpCaller } from './caller.ts'
import { createHandler, type HandlerDependencies } from './handler.ts'

/** JSON-RPC's codes for errors that occur before a message is understood. */
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600

/**
 * The MCP server at /mcp: Streamable HTTP without sessions, revision 2026-07-28 and the earlier ones. Errors have
 * JSON-RPC's shape.
 */
export async function mcpRoutes(app: App, dependencies: CallerDependencies & HandlerDependencies): Promise<void> {
  const handle = createHandler(dependencies)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', readUncheckedJsonBody)
  app.setErrorHandler((error, request, reply) =>
    sendError(error instanceof ServiceError ? error : toServiceError(error as never), error, request, reply),
  )
  app.addHook('onRequest', async (request, reply) => allowOrigin(request, reply, dependencies.config.publicUrl))

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
    const response = await handle(request, reply, caller)
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

/** People also paste the URL with a slash at its end. */
const PATHS = ['/mcp', '/mcp/']

function sendError(error: ServiceError, original: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error.status >= 500) request.log.error({ err: original, code: error.code }, 'an MCP request failed')
  const code = error.code === 'invalid_json' ? PARSE_ERROR : INVALID_REQUEST
  const data = { code: error.code, request_id: request.id }
  return reply
    .code(error.status)
    .headers(error.headers)
    .send({ jsonrpc: '2.0', id: null, error: { code, message: error.message, data } })
}
