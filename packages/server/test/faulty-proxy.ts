import { once } from 'node:events'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/**
 * What goes wrong with a request: it gets an error or is cut off, before the service has seen it, or after the service
 * has done what it asks.
 */
export type Fault = { at: 'before' | 'after'; status: number | 'cut'; headers?: OutgoingHttpHeaders }

export interface FaultyProxy {
  url: string
  /** How many requests came, and how many went wrong. */
  requests: number
  faults: number
  /** Where requests go: the service may come back at another port. */
  target: string
  /** Says what goes wrong with the nth request; null for nothing. */
  plan: (nth: number, method: string | undefined) => Fault | null
  close(): Promise<void>
}

/** A proxy in front of the service that loses requests and responses, like a network and a load balancer do. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const server = createServer((sent, response) => {
    void handle(sent, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: 0,
    faults: 0,
    target,
    plan: () => null,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  async function handle(sent: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = proxy.plan(++proxy.requests, sent.method)
    if (fault) proxy.faults++
    const body = await buffer(sent)
    if (fault?.at === 'before') return fail(fault, sent, response)
    const forwarded = request(proxy.target + sent.url, { method: sent.method, headers: sent.headers })
    forwarded.end(body)
    const [received] = (await once(forwarded, 'response')) as [IncomingMessage]
    const content = await buffer(received)
    if (fault) return fail(fault, sent, response)
    response.writeHead(received.statusCode ?? 500, received.headers).end(content)
  }

  return proxy
}

function fail(
  { status, headers = {} }: Fault,
  { headers: { origin } }: IncomingMessage,
  response: ServerResponse,
): void {
  if (status === 'cut') return void response.destroy()
  // As the service's responses, so that pages can read the status and when to try again.
  const cors = origin
    ? {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': 'Retry-After',
      }
    : {}
  response.writeHead(status, { ...cors, ...headers }).end('{"status": "error"}')
}
