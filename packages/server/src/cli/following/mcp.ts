import type { Readable } from 'node:stream'
import type { ServerContext } from '@modelcontextprotocol/server'
import { ServiceError } from '../../platform/errors.ts'
import { type ApiFetch, createApiFetch } from '../../platform/outbound/api-fetch.ts'
import { VERSION } from '../../platform/version.ts'

const REVISION = '2026-07-28'
/** JSON-RPC's code. */
const INTERNAL_ERROR = -32603
const META = 'io.modelcontextprotocol/'
/** The methods that are forwarded, each with the parameter that the header Mcp-Name repeats. */
const FORWARDED = {
  'tools/list': null,
  'tools/call': 'name',
  'resources/list': null,
  'resources/templates/list': null,
  'resources/read': 'uri',
  'prompts/list': null,
  'prompts/get': 'name',
  'completion/complete': null,
} as const
type Forwarded = keyof typeof FORWARDED

interface Service {
  url: string
  key: string
}
interface Connection extends Service {
  outbound: Pick<ApiFetch, 'fetch'>
}

type Result = Record<string, unknown>
interface RpcResponse {
  result?: Result
  error?: { code: number; message: string; data?: unknown }
}

/**
 * Serves MCP over standard input and output for desktop clients, and forwards each request to a service's /mcp. It
 * returns once the client has closed the input. Older clients are asked to confirm over the same connection, which the
 * service's /mcp cannot do.
 * @throws ServiceError if the service does not accept the key
 */
export async function serveOverStdio(service: Service, signal: AbortSignal, input: Readable = process.stdin) {
  const [{ ProtocolError, Server }, { serveStdio }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ])
  // The person names the address, which is often one of their own machine.
  const outbound = createApiFetch({ allowPrivate: true, allowHttp: true })
  const connection = { ...service, outbound }
  const about = await send(connection, 'server/discover', {}, {})
  if (about.error) throw new ServiceError(502, 'service_refused', about.error.message)
  const { instructions } = (about.result ?? {}) as { instructions?: string }

  const handle = serveStdio(() => {
    const server = new Server(
      { name: 'customer-data-service', title: 'Customer Data Service', version: VERSION },
      {
        capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
        ...(instructions ? { instructions } : {}),
      },
    )
    for (const method of Object.keys(FORWARDED) as Forwarded[]) {
      server.setRequestHandler(method, async ({ params }: { params?: object }, context: ServerContext) => {
        const envelope = context.mcpReq.envelope as Record<string, object> | undefined
        const capabilities = envelope?.[`${META}clientCapabilities`] ?? server.getClientCapabilities()
        const sent = { ...params, ...answersOf(context) }
        const { signal: cancelled } = context.mcpReq
        const { result, error } = await send(connection, method, sent, capabilities ?? {}, cancelled)
        if (error) throw new ProtocolError(error.code, error.message, error.data)
        const { resultType, ...rest } = result ?? {}
        return (resultType === 'input_required' ? { resultType, ...rest } : rest) as never
      })
    }
    return server
  })
  console.error(`Serving MCP for ${service.url} over standard input and output.`)
  await new Promise<void>((resolve) => {
    input.once('close', resolve).once('end', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await handle.close()
  await outbound.close()
}

/** A person's answers that a client sends with its request. */
function answersOf({ mcpReq }: ServerContext): object {
  const state = mcpReq.requestState<string>()
  return {
    ...(mcpReq.inputResponses === undefined ? {} : { inputResponses: mcpReq.inputResponses }),
    ...(state === undefined ? {} : { requestState: state }),
  }
}

async function send(
  { url, key, outbound }: Connection,
  method: string,
  params: Record<string, unknown>,
  capabilities: object,
  cancelled?: AbortSignal,
): Promise<RpcResponse> {
  const named = FORWARDED[method as Forwarded] ?? null
  const { _meta: meta, ...rest } = params
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      ...rest,
      _meta: {
        ...(meta as object | undefined),
        [`${META}protocolVersion`]: REVISION,
        [`${META}clientInfo`]: { name: 'cdsctl', version: VERSION },
        [`${META}clientCapabilities`]: capabilities,
      },
    },
  }
  try {
    const response = await outbound.fetch(new URL('/mcp', url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': REVISION,
        'mcp-method': method,
        ...(named === null ? {} : { 'mcp-name': headerValue(String(params[named])) }),
      },
      body: JSON.stringify(body),
      ...(cancelled ? { signal: cancelled } : {}),
    })
    if (!response.headers.get('content-type')?.includes('json')) {
      const message = `${url} responded with the status ${response.status} and no JSON. Check CDS_URL, and what is in front of the service.`
      return { error: { code: INTERNAL_ERROR, message } }
    }
    return (await response.json()) as RpcResponse
  } catch (error) {
    const { message: reason } = error as Error
    const message = `The service at ${url} does not respond: ${reason}. Check that it runs, and CDS_URL.`
    return { error: { code: INTERNAL_ERROR, message } }
  }
}

/** A text as the value of a header: one with other characters than visible ASCII is encoded, as MCP defines. */
function headerValue(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text
  return `=?base64?${Buffer.from(text).toString('base64')}?=`
}
