import type { McpHttpHandler, McpServer } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../platform/log.ts'
import type { ToolServices } from './call.ts'
import type { McpCaller } from './caller.ts'
import { type ConfirmedState, createMcpServer, type ServerDependencies } from './server.ts'

export interface HandlerDependencies {
  toolServices: ToolServices
  /** Signs what clients must send back. */
  mcpSecret(): Promise<string>
  log: Logger
  /** Extends the server of each request, for protocol tests. */
  extendMcpServer?: (server: McpServer, parts: Pick<ServerDependencies, 'sdk' | 'stateCodec'>) => void
}

/** Handles authenticated callers' messages with the protocol library. */
export function createHandler(dependencies: HandlerDependencies) {
  const open = lazyLibrary(dependencies)
  return async (request: FastifyRequest, reply: FastifyReply, caller: McpCaller): Promise<Response> => {
    const library = await open()
    return library.fetch(webRequest(request, reply), {
      parsedBody: request.body,
      authInfo: { token: '', clientId: caller.callerId, scopes: [...caller.scopes], extra: { caller } },
    })
  }
}

/** Loads the protocol library at the first request: an idle service does not need it. */
function lazyLibrary({ toolServices, mcpSecret, log, extendMcpServer }: HandlerDependencies) {
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
