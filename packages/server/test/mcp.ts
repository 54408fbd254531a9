import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Errors } from 'typebox/value'
import { expect } from 'vitest'
import { TOOLS } from '../src/mcp/tools/all-tools.ts'
import { call, type TestResponse } from './service.ts'

const META = 'io.modelcontextprotocol/'
const REVISION = '2026-07-28'

/** A request of revision 2026-07-28, as it goes over the wire. */
export function mcpRequest(method: string, params: Record<string, unknown> = {}, capabilities: object = {}) {
  const named = method === 'resources/read' ? params.uri : params.name
  const meta = {
    [`${META}protocolVersion`]: REVISION,
    [`${META}clientInfo`]: { name: 'test', version: '1' },
    [`${META}clientCapabilities`]: capabilities,
  }
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(typeof named === 'string' && /^[\x21-\x7e]+$/.test(named) ? { 'mcp-name': named } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  }
}

/** Sends a request and reads its response. */
export function callMcp(
  service: { url: string },
  key: string,
  method: string,
  params?: Record<string, unknown>,
  capabilities?: object,
): Promise<TestResponse> {
  const { headers, body } = mcpRequest(method, params, capabilities)
  return call(service, 'POST', '/mcp', { headers: { ...headers, authorization: `Bearer ${key}` }, body })
}

export type Mode = 'modern' | 'auto' | 'legacy'

/** The official client, of the revisions that a mode negotiates, connected over HTTP. */
export async function connectClient(
  { url }: { url: string },
  key: string,
  mode: Mode,
  options: ClientOptions = {},
  prepare: (client: Client) => void = () => {},
): Promise<Client> {
  const client = newClient(mode, options)
  prepare(client)
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }))
  return client
}

export function newClient(mode: Mode, options: ClientOptions = {}): Client {
  const negotiation = mode === 'modern' ? { mode: { pin: REVISION } } : { mode }
  return new Client({ name: 'test', version: '1' }, { ...options, versionNegotiation: negotiation })
}

type Result = Awaited<ReturnType<Client['callTool']>>

// biome-ignore lint/suspicious/noExplicitAny: tests read results of every shape
export function dataOf(result: Result): any {
  return result.structuredContent
}

/** The text that a model reads. */
export function textOf({ content }: Result): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** Expects that what a tool returned fits its output schema: nothing undeclared, and every type right. */
export function expectDeclared(name: string, result: { isError?: boolean; structuredContent?: unknown } | undefined) {
  if (result === undefined || result.isError || result.structuredContent === undefined) return
  const tool = TOOLS.find((each) => each.name === name)
  if (!tool) throw new Error(`There is no tool ${name}.`)
  const problems = Errors(tool.output, result.structuredContent).map(
    ({ instancePath, message }) => `${instancePath} ${message}`,
  )
  expect([name, problems]).toEqual([name, []])
}
