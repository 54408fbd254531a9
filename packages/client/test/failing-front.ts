import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** What happens to a request instead of a response: it never arrives, or its response is lost. */
type Failure = 'lost request' | 'lost response' | { status: number; headers?: Record<string, string>; body?: string }

export interface FailingFront {
  url: string
  /** The requests so far. */
  requests: { method: string; path: string; headers: IncomingHttpHeaders; body: string }[]
  /** What happens to the next requests; afterwards all are served. */
  failures: Failure[]
}

/** A server in front of the service that forwards requests, except those that a test lets fail. */
export async function startFailingFront(service: { url: string }): Promise<FailingFront> {
  const front: FailingFront = { url: '', requests: [], failures: [] }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url: path = '', headers } = request
    const body = Buffer.concat(chunks)
    front.requests.push({ method, path, headers, body: body.toString() })
    const failure = front.failures.shift()
    if (failure === 'lost request') return request.socket.destroy()
    if (typeof failure === 'object') {
      response.writeHead(failure.status, failure.headers)
      return response.end(failure.body)
    }
    const { host: _, connection: __, 'content-length': ___, ...forwarded } = headers
    const received = await fetch(service.url + path, {
      method,
      headers: forwarded as Record<string, string>,
      ...(body.length > 0 ? { body } : {}),
    })
    const text = await received.text()
    if (failure === 'lost response') return request.socket.destroy()
    const {
      'content-encoding': ____,
      'content-length': _____,
      'transfer-encoding': ______,
      ...kept
    } = Object.fromEntries(received.headers)
    response.writeHead(received.status, kept)
    response.end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  front.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return front
}
